#include <catch2/catch.hpp>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "model.h"
#include "rules.h"
#include "run.h"

namespace bk::b12x {
namespace {

TEST_CASE("which splits can serve, and which padding would corrupt") {
  struct Case {
    std::int64_t intermediate, experts;
    Split split;
    std::int64_t size;
    bool serves;
    std::int64_t padding;
    const char* why;
  };
  // TP=n serves when intermediate is a multiple of 64 n; EP=n when it is one of 128 and n divides the experts.
  const Case kCases[] = {
      {640, 128, Split::kTp, 1, true, 0, "2 * 640 / 1 = 1280 is a multiple of 128"},
      {640, 128, Split::kTp, 2, true, 0, "2 * 640 / 2 = 640 is a multiple of 128"},
      {640, 128, Split::kTp, 4, false, 768, "2 * 640 / 4 = 320 is no multiple of 128"},
      {640, 128, Split::kEp, 4, true, 0, "640 is a multiple of 128, 128 experts / 4 = 32"},
      {640, 128, Split::kTp, 3, false, 768, "640 / 3 is not whole"},
      {640, 126, Split::kEp, 4, false, 0, "126 experts are not divisible by 4"},
      {704, 128, Split::kEp, 4, false, 768, "704 is no multiple of 128"},
      {704, 126, Split::kEp, 4, false, 0, "704 is no multiple of 128; 126 experts are not divisible by 4"},
      {704, 128, Split::kTp, 1, true, 0, "2 * 704 / 1 = 1408 is a multiple of 128"},
      {2048, 256, Split::kTp, 8, true, 0, "2 * 2048 / 8 = 512 is a multiple of 128"},
      {2048, 256, Split::kEp, 256, true, 0, "2048 is a multiple of 128, 256 experts / 256 = 1"},
      {2048, 256, Split::kEp, 512, false, 0, "256 experts are not divisible by 512"},
      {64, 8, Split::kTp, 1, true, 0, "2 * 64 / 1 = 128 is a multiple of 128"},
      {64, 8, Split::kEp, 1, false, 128, "64 is no multiple of 128"},
  };
  for (const Case& each : kCases) {
    CAPTURE(each.intermediate, each.experts, name_of(each.split, each.size));
    const Verdict verdict = judge({each.intermediate, each.experts, "", "", ""}, each.split, each.size);
    CHECK(verdict.serves == each.serves);
    CHECK(verdict.corrupting_padding == each.padding);
    CHECK(verdict.why == each.why);
  }
}

TEST_CASE("shapes from config.json, nested or not") {
  struct Case {
    const char* config;
    std::int64_t intermediate, experts;
    const char* found_in;
  };
  const Case kGood[] = {
      {R"({"n_routed_experts":256,"moe_intermediate_size":2048,"intermediate_size":18432})", 2048, 256, ""},
      {R"({"num_experts":128,"moe_intermediate_size":768})", 768, 128, ""},
      {R"({"num_local_experts":8,"intermediate_size":14336})", 14336, 8, ""},
      {R"({"text_config":{"num_experts":64,"moe_intermediate_size":640}})", 640, 64, "text_config"},
      {R"({"language_config":{"n_routed_experts":64,"moe_intermediate_size":640}})", 640, 64, "language_config"},
      {R"({"llm_config":{"num_experts":64,"moe_intermediate_size":640}})", 640, 64, "llm_config"},
      {R"({"num_experts":64,"moe_intermediate_size":640,"text_config":{"num_experts":64,"moe_intermediate_size":640}})",
       640, 64, ""},
      {R"({"num_experts":64,"vision_config":{"intermediate_size":99},"text_config":{"moe_intermediate_size":640}})",
       640, 64, "text_config"},
  };
  for (const Case& each : kGood) {
    CAPTURE(each.config);
    const auto shape = shape_of(parse_json(each.config).value());
    REQUIRE(shape);
    CHECK(shape->intermediate == each.intermediate);
    CHECK(shape->experts == each.experts);
    CHECK(shape->found_in == each.found_in);
  }
  const std::pair<const char*, Errc> kBad[] = {
      {R"({"intermediate_size":8192})", Errc::kUnavailable},
      {R"({"num_experts":null,"intermediate_size":8192})", Errc::kUnavailable},
      {R"({"num_experts":8})", Errc::kParse},
      {R"({"num_experts":0,"moe_intermediate_size":640})", Errc::kParse},
      {R"({"num_experts":8,"moe_intermediate_size":-640})", Errc::kParse},
      {R"({"num_experts":8,"moe_intermediate_size":"640"})", Errc::kParse},
      {R"({"num_experts":8.5,"moe_intermediate_size":640})", Errc::kParse},
      {R"({"num_experts":8,"moe_intermediate_size":640,"text_config":{"moe_intermediate_size":768}})", Errc::kParse},
      {R"([1])", Errc::kParse},
  };
  for (const auto& [config, code] : kBad) {
    CAPTURE(config);
    const auto shape = shape_of(parse_json(config).value());
    REQUIRE_FALSE(shape);
    CHECK(shape.error().code == code);
  }
}

std::string safetensors(const std::string& header) {
  std::string bytes;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> shift & 0xFFU);
  }
  return bytes + header;
}

std::string tensor(const std::string& name, const std::string& shape) {
  return "{\"__metadata__\":{\"format\":\"pt\"},\"" + name + "\":{\"dtype\":\"BF16\",\"shape\":" + shape +
         ",\"data_offsets\":[0,0]}}";
}

TEST_CASE("safetensors headers") {
  const std::string good = safetensors(tensor("model.layers.3.mlp.experts.0.up_proj.weight", "[640,2048]"));
  const auto header = parse_safetensors_header(good, good.size());
  REQUIRE(header);
  struct Case {
    const char* name;
    const char* shape;
    std::int64_t compared;  // -1: refused
    const char* said;
  };
  const Shape shape{640, 128, "", "moe_intermediate_size", "num_experts"};
  const Case kCases[] = {
      {"model.layers.3.mlp.experts.0.up_proj.weight", "[640,2048]", 1, ""},
      {"m.experts.0.gate_up_proj.weight", "[1280,2048]", 1, ""},
      {"m.experts.0.gate_up_proj.weight", "[640,2048]", -1, "m.experts.0.gate_up_proj.weight has 320 rows"},
      {"m.block_sparse_moe.experts.7.w1.weight", "[768,4096]", -1, "moe_intermediate_size 640, but m.block_sparse"},
      {"m.experts.0.gate_proj.weight_packed", "[768,256]", -1, "has 768 rows"},
      {"m.experts.gate_up_proj", "[128,2048,1280]", 1, ""},
      {"m.experts.gate_up_proj", "[128,1280,2048]", 1, ""},
      {"m.experts.gate_up_proj", "[64,1280,2048]", -1, "num_experts 128, but m.experts.gate_up_proj holds 64"},
      {"m.experts.gate_up_proj", "[128,1536,2048]", -1, "no dimension of m.experts.gate_up_proj is twice that"},
      {"m.experts.0.down_proj.weight", "[2048,640]", 0, ""},
      {"m.experts.0.up_proj.weight_scale", "[999,1]", 0, ""},
      {"m.shared_experts.experts.up_proj.weight", "[999,2048]", 0, ""},
      {"m.mlp.up_proj.weight", "[999,2048]", 0, ""},
      {"m.experts.0.up_proj.weight", "[999]", 0, ""},
  };
  for (const Case& each : kCases) {
    CAPTURE(each.name, each.shape);
    Seen seen;
    const auto same = compare_header(shape, parse_json(tensor(each.name, each.shape)).value(), seen);
    CHECK(same.has_value() == (each.compared >= 0));
    if (same) CHECK(seen.tensors == each.compared);
    if (!same) CHECK(same.error().code == Errc::kMismatch);
    if (!same) CHECK(same.error().what.find(each.said) != std::string::npos);
  }
  for (const std::string& bad : {std::string(), std::string("1234567"), std::string(8, '\xff'), std::string(8, '\0'),
                                 good.substr(0, good.size() - 1), safetensors("[1]"), safetensors("{{{")}) {
    CHECK_FALSE(parse_safetensors_header(bad, bad.size()));
  }
}

struct Ran {
  int code;
  std::string out, err;
};

Ran preflight(const cli::Args& args) {
  std::ostringstream out, err;
  cli::Streams streams{out, err};
  const int code = cli::run_with("b12x-preflight", streams, args, run);
  return {code, out.str(), err.str()};
}

TEST_CASE("a models folder: every model is judged, named dense, or unknown with its reason") {
  const TempDir dir;
  const auto add = [&](const std::string& path, const std::string& bytes) {
    REQUIRE(make_directories((dir.path() / path).parent_path()));
    REQUIRE(write_file_atomic(dir.path() / path, bytes));
  };
  const std::string moe = R"({"num_experts":128,"moe_intermediate_size":640})";
  add("org/moe/config.json", moe);
  add("org/moe/model-1.safetensors", safetensors(tensor("m.experts.0.up_proj.weight", "[640,2048]")));
  add("org/moe/model-2.safetensors", safetensors(tensor("m.experts.127.up_proj.weight", "[640,2048]")));
  add("dense/config.json", R"({"intermediate_size":1536})");
  const Ran good = preflight({dir.path().string(), "--sizes", "4", "--json"});
  CHECK(good.err.empty());
  CHECK(good.code == 0);
  const auto json = parse_json(good.out);
  REQUIRE(json);
  const auto& models = (*json)["models"].items();
  REQUIRE(models.size() == 2);
  CHECK(models[0]["status"].as_string() == "dense");
  CHECK(models[0]["splits"].items().empty());
  CHECK(models[0]["intermediate"].is_null());
  CHECK(models[1]["model"].as_string() == "org/moe");
  CHECK(models[1]["tensors_compared"].as_int() == 2);
  const auto& splits = models[1]["splits"].items();
  REQUIRE(splits.size() == 2);
  CHECK(splits[0]["split"].as_string() == "TP=4");
  CHECK(splits[0]["serves"].as_bool() == false);
  CHECK(splits[0]["corrupting_padding"].as_int() == 768);
  CHECK(splits[1]["split"].as_string() == "EP=4");
  CHECK(splits[1]["serves"].as_bool() == true);
  CHECK(splits[1]["corrupting_padding"].is_null());
  CHECK(preflight({dir.path().string(), "--sizes", "3"}).code == 1);
  CHECK(preflight({dir.path().string(), "--sizes", "4"}).out.find("padding to 768 would boot and corrupt") !=
        std::string::npos);
  add("bare/config.json", moe);
  CHECK(preflight({(dir.path() / "bare").string()}).out.find("by config.json alone: no expert's tensor was there") !=
        std::string::npos);
  CHECK(preflight({(dir.path() / "org").string()}).out.find("config.json alone") == std::string::npos);
  add("cut/config.json", moe);
  add("cut/model-1.safetensors", safetensors(tensor("m.experts.63.up_proj.weight", "[640,2048]")));
  const Ran cut = preflight({(dir.path() / "cut").string()});
  CHECK(cut.code == 4);
  CHECK(cut.out.find("num_experts 128, but the tensors are of experts 0 to 63") != std::string::npos);
  add("padded/config.json", moe);
  std::filesystem::remove_all(dir.path() / "cut");
  add("padded/model.safetensors", safetensors(tensor("m.experts.0.up_proj.weight", "[768,2048]")));
  const Ran unknown = preflight({dir.path().string(), "--sizes", "4"});
  CHECK(unknown.code == 4);
  CHECK(unknown.out.find("config.json says moe_intermediate_size 640, but m.experts.0.up_proj.weight has 768 rows "
                         "(model.safetensors)") != std::string::npos);
  add("padded/model.safetensors", "broken");
  CHECK(preflight({dir.path().string()}).code == 4);
  CHECK(preflight({(dir.path() / "none").string()}).code == 3);
  const TempDir empty;
  CHECK(preflight({empty.path().string()}).code == 2);
  CHECK(preflight({dir.path().string(), "--sizes", "0"}).code == 2);
}

}  // namespace
}  // namespace bk::b12x
