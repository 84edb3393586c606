// Real vLLM's bytes, sent again with their own timing: what a program makes of them is what the capture holds.
#include <catch2/catch.hpp>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "store/store.h"
#include "support/sim_engine.h"

namespace bk {
namespace {

const std::string kFolder = std::string(BK_SOURCE_DIR) + "/tests/fixtures/vllm-0.32.0-cpu-smollm2-ngram/";
constexpr int kStreams = 4;

/// One captured stream, read without the parsers under test.
struct Stream {
  std::vector<std::string> lines;                 ///< of a script, one a receive
  std::int64_t prompt_tokens = 0, generated = 0;  ///< by its usage
  std::vector<std::int32_t> tokens_per_event;     ///< by its token ids
  Nanos first_token = 0, end = 0;                 ///< after the request was written
};

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

/// The captures tell bytes as Latin-1 characters.
std::string bytes_of(std::string_view latin1) {
  std::string bytes;
  for (std::size_t i = 0; i < latin1.size(); ++i) {
    const auto c = static_cast<unsigned char>(latin1[i]);
    if (c < 0x80) {
      bytes += latin1[i];
    } else {
      bytes += static_cast<char>(((c & 0x1F) << 6) | (static_cast<unsigned char>(latin1[++i]) & 0x3F));
    }
  }
  return bytes;
}

std::int64_t last_number(std::string_view text, const std::string& name) {
  const std::string key = "\"" + name + "\":";
  const std::string_view digits = text.substr(text.rfind(key) + key.size());
  return parse_int(digits.substr(0, digits.find_first_not_of("0123456789"))).value_or(-1);
}

Stream capture(int number) {
  Stream out;
  const auto text = read_file(kFolder + fmt::format("chat{}.timed.jsonl", number + 1));
  REQUIRE(text);
  std::string all;
  bool request = true;
  for (const std::string_view line : split_lines(*text)) {
    if (std::exchange(request, false)) continue;
    const Json receive = parse_json(line).value();
    if (receive["data"].is_null()) continue;  // the end of the connection
    const std::string bytes = bytes_of(receive["data"].as_string().value());
    const Nanos at = receive["t_us"].as_int().value() * kMicrosecond;
    Json step = Json::object().set("path", "/v1/chat/completions").set("request", number).set("at_ms", to_ms(at));
    out.lines.push_back(step.set("hex", hex_of(bytes)).set("wire", true).dump());
    const std::string key = "\"token_ids\":[";
    for (std::size_t found = bytes.find(key); found != std::string::npos; found = bytes.find(key, found + 1)) {
      const std::string list = bytes.substr(found + key.size(), bytes.find(']', found) - found - key.size());
      if (list.empty()) continue;
      out.tokens_per_event.push_back(static_cast<std::int32_t>(split(list, ',').size()));
      if (out.first_token == 0) out.first_token = at;
    }
    out.end = at;
    all += bytes;
  }
  out.prompt_tokens = last_number(all, "prompt_tokens");
  out.generated = last_number(all, "completion_tokens");
  return out;
}

std::string metrics_line(const char* file, std::optional<int> request) {
  Json line = Json::object().set("path", "/metrics").set("at_ms", 0).set("data", read_file(kFolder + file).value());
  if (request) line.set("request", *request);
  return line.set("headers", Json::object().set("Content-Type", "text/plain; version=0.0.4")).dump() + "\n";
}

std::vector<std::int32_t> tokens_in(const store::RequestRow& request) {
  std::vector<std::int32_t> tokens;
  for (const store::EventRow& event : request.events) tokens.push_back(event.tokens);
  return tokens;
}

TEST_CASE("vLLM's captured streams, replayed with their timing, give their usage, token ids and acceptance") {
  const TempDir dir;
  std::vector<Stream> captures;
  std::string script = metrics_line("metrics_before.txt", 0) + metrics_line("metrics_after.txt", {});
  for (int i = 0; i < kStreams; ++i) {
    captures.push_back(capture(i));
    for (const std::string& line : captures.back().lines) script += line + "\n";
  }
  REQUIRE(write_file_atomic(dir.path() / "vllm.jsonl", script));
  const test::SimEngine engine({"--served-model-name", "smol", "--script", dir.path() / "vllm.jsonl"});
  const std::string db = dir.path() / "r.db";
  const Captured run = test::run_program({"bench-conc", "--base-url", engine.url(), "-C", "4", "-n", "4", "--warmup",
                                          "0", "--tokens", "128", "--db", db, "--json"},
                                         {}, dir.path().string(), 300 * kSecond);
  INFO(run.err);
  REQUIRE(run.exit.code == 0);

  auto database = store::Database::open(db, store::OpenMode::kReadOnly);
  REQUIRE(database);
  const auto samples = database->samples(1);
  REQUIRE(samples);
  REQUIRE(samples->size() == 1);
  const store::SampleRow& sample = samples->front();
  // The counters' pages: 181 - 2 drafts, 889 - 10 tokens drafted, 332 - 2 accepted, and so on by position.
  CHECK(sample.accept_drafts == 179.0);
  CHECK(sample.accept_draft_tokens == 879.0);
  CHECK(sample.accept_accepted == 330.0);
  const auto positions = parse_json(sample.accept_per_position_json);
  REQUIRE(positions);
  const double accepted[] = {76, 72, 64, 61, 57};
  REQUIRE(positions->items().size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(*positions->items()[i].as_double() == Approx(accepted[i] / 179));

  const auto requests = database->requests(sample.id);
  REQUIRE(requests);
  REQUIRE(requests->size() == kStreams);
  std::set<int> found;  // which of them gets which capture is decided by the order of arrival
  for (const store::RequestRow& request : *requests) {
    for (int i = 0; i < kStreams; ++i) {
      const Stream& from = captures[static_cast<std::size_t>(i)];
      if (tokens_in(request) != from.tokens_per_event) continue;
      found.insert(i);
      CHECK(request.tokens_source == "usage");
      CHECK(request.usage_prompt_tokens == from.prompt_tokens);
      CHECK(request.usage_completion_tokens == from.generated);
      CHECK(request.completion_tokens == from.generated);
      CHECK(request.decode_basis == "exact");
      CHECK(request.ttft >= from.first_token);  // sent at absolute times: late on a busy machine, never early
      CHECK(request.end >= from.end);
    }
  }
  CHECK(found.size() == kStreams);
}

}  // namespace
}  // namespace bk
