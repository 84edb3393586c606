#include "boot/proofs.h"

#include <catch2/catch.hpp>
#include <regex>

#include "boot/fingerprint.h"
#include "boot/log_pattern.h"

using namespace bk;
using namespace bk::boot;

namespace {

Profile profile_with(const std::string& proof) {
  auto parsed = parse_profile("COMMAND=x\nK=5\nK.any=yes\nK.env=E\n" + proof + "\n", "p.env", {});
  INFO((parsed ? std::string() : parsed.error().text()));
  REQUIRE(parsed);
  return *parsed;
}

Evidence evidence() {
  Evidence shown;
  shown.log = "start\nproof K=4\nproof K=5\nspec method='ngram', k=3\nnoise " + std::string(100'000, 'x') + "\n";
  shown.environ = {{"ENGINE_K", "5"}};
  shown.metrics = engine::parse_metrics("cache_info{block=\"16\",k=\"5\"} 1\nlimit{engine=\"0\"} 5\n").value();
  shown.get_json = [](const std::string& path) -> Result<Json> {
    if (path == "/props") return parse_json("{\"settings\":{\"k\":5,\"name\":\"five\"}}");
    return fail(Errc::kHttp, "HTTP 404", path);
  };
  return shown;
}

}  // namespace

TEST_CASE("each kind of proof finds its evidence and compares what the engine confirms") {
  struct Row {
    const char* proof;
    const char* confirmed;  // nullptr: no evidence
    const char* evidence;
    const char* reason;
  };
  const std::vector<Row> table = {
      {"K.proof='log: ^proof K={VALUE}$'", "5", "proof K=5", ""},
      {"K.proof='log: k={VALUE}'", "3", "spec method='ngram', k=3", "value_differs"},
      {"K.proof=\"log: method='{VALUE}'\"", "ngram", "spec method='ngram', k=3", "value_differs"},
      {"K.proof='log: absent={VALUE}'", nullptr, "", "no_evidence"},
      {"K.proof.5='log: ngram'", "5", "spec method='ngram', k=3", ""},
      {"K.proof.5='log: eagle'", nullptr, "", "no_evidence"},
      {"K.proof.6='log: ngram'", nullptr, "", "no_proof_declared"},
      {"K.proof='metric: cache_info{k=\"{VALUE}\"}'", "5", "cache_info{block=\"16\",k=\"5\"} 1", ""},
      {"K.proof='metric: cache_info{block=\"{VALUE}\"}'", "16", "cache_info{block=\"16\",k=\"5\"} 1", "value_differs"},
      {"K.proof='metric: cache_info{block=\"32\",k=\"{VALUE}\"}'", nullptr, "", "no_evidence"},
      {"K.proof='metric: limit{engine=\"0\"}={VALUE}'", "5", "limit{engine=\"0\"} 5", ""},
      {"K.proof='metric: limits{engine=\"0\"}={VALUE}'", nullptr, "", "no_evidence"},
      {"K.proof='environ: ENGINE_K'", "5", "ENGINE_K=5", ""},
      {"K.proof='environ: OTHER'", nullptr, "", "no_evidence"},
      {"K.proof='json: /props settings.k'", "5", "/props settings.k = 5", ""},
      {"K.proof='json: /props settings.name'", "five", "/props settings.name = five", "value_differs"},
      {"K.proof='json: /props settings.absent.k'", nullptr, "", "no_evidence"},
      {"K.proof='json: /other settings.k'", nullptr, "", "no_evidence"},
      {"", nullptr, "", "no_proof_declared"},
  };
  for (const Row& row : table) {
    INFO(row.proof);
    const Profile profile = profile_with(row.proof);
    const auto proofs = read_proofs(profile, make_arm(profile, "base", {}).value(), evidence());
    REQUIRE(proofs.size() == 1);
    const Proof& proof = proofs.front();
    CHECK(proof.knob == "K");
    CHECK(proof.asked == "5");
    CHECK(proof.confirmed == (row.confirmed == nullptr ? std::nullopt : std::optional<std::string>(row.confirmed)));
    CHECK(proof.evidence == row.evidence);
    CHECK(proof.reason == row.reason);
    CHECK(proof.ok == std::string(row.reason).empty());
  }
}

TEST_CASE("an engine without log, page or environment proves nothing") {
  for (const char* proof :
       {"K.proof='log: K={VALUE}'", "K.proof='metric: m={VALUE}'", "K.proof='environ: E'", "K.proof='json: /p k'"}) {
    const Profile profile = profile_with(proof);
    const auto proofs = read_proofs(profile, make_arm(profile, "base", {}).value(), {});
    REQUIRE(proofs.size() == 1);
    CHECK(proofs.front().reason == "no_evidence");
  }
}

TEST_CASE("values are equal as text or as numbers") {
  CHECK(same_value("5", "5.0"));
  CHECK(same_value("0.1", "1e-1"));
  CHECK(same_value("ngram", "ngram"));
  CHECK_FALSE(same_value("1", "true"));
  CHECK_FALSE(same_value("1", ""));
  CHECK_FALSE(same_value("ngram", "ngram2"));
}

TEST_CASE("keys leave neither argv nor environment") {
  const std::vector<std::string> secrets = {"sk-123"};
  CHECK(redacted_argv({"e", "--api-key", "abc", "--hf-token=xyz", "--max-tokens", "5", "--note", "has sk-123 inside"},
                      secrets) == std::vector<std::string>{"e", "--api-key", "***", "--hf-token=***", "--max-tokens",
                                                           "5", "--note", "has *** inside"});
  CHECK(redacted_environment(
            {{"HF_TOKEN", "x"}, {"VLLM_API_KEY", "y"}, {"MAX_TOKENS", "9"}, {"URL", "http://sk-123@h"}}, secrets)
            .dump() == R"({"HF_TOKEN":"***","MAX_TOKENS":"9","URL":"http://***@h","VLLM_API_KEY":"***"})");
}

TEST_CASE("the machine's state says what it cannot read") {
  const Json state = machine_state();
  CHECK(state["host_id"].as_string().value_or("").size() == 12);
  CHECK(state["cpu"]["cores"].as_int().value_or(0) >= 1);
  CHECK(state["memory"]["total_mb"].as_int().value_or(0) > 0);
  CHECK(state["load_average"].items().size() == 3);
  CHECK((state["gpus"].is_array() || state["gpus_reason"].as_string()));
}

TEST_CASE("a pattern that no line can match is found before a boot, and no other is suspected") {
  for (const char* dead : {"K=^{VALUE}", "^K=$ {VALUE}", "one\\ntwo", "(a|b)^c", "x(^a|b)", "(a$)b", "a$|b$c",
                           "(?:ready$)+ now", "a\\r", "one\ntwo", "((^a)^b|c)", "x+^", "\\d{2}^a", "[$^]^"}) {
    CAPTURE(dead);
    CHECK(never_matches(log_pattern(dead)));
  }
  const std::pair<const char*, const char*> kAlive[] = {{"^proof K={VALUE}$", "proof K=5"},
                                                        {"K={VALUE}[,}]", "'K=5, L"},
                                                        {"num={VALUE}\\)", "(num=5)"},
                                                        {"(?:^| )K={VALUE}", "a K=5"},
                                                        {"a*^b", "b"},
                                                        {"(a|^b)c", "bc"},
                                                        {"[$^]+x", "$^x"},
                                                        {"\\$5\\^", "$5^"},
                                                        {"a$|b", "xb"},
                                                        {"a(?=b$)b", "ab"},
                                                        {"x{0,2}^y", "y"},
                                                        {"a\\n?b", "ab"},
                                                        {"a$\\b", "a"},
                                                        {"(^a|b)?c$", "c"},
                                                        {"ready$", "is ready"}};
  for (const auto& [pattern, line] : kAlive) {
    CAPTURE(pattern);
    CHECK_FALSE(never_matches(log_pattern(pattern)));
    CHECK(std::regex_search(line, std::regex(log_pattern(pattern))));
  }
}
