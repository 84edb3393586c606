#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "support/real_engine.h"
#include "support/sim_engine.h"

using namespace bk;
using test::counted;
using test::counters_of;
using test::run_program;
using test::samples_in;
using test::whole_of;

namespace {

std::unique_ptr<boot::Booted> boot_llama(const TempDir& dir, const boot::KnobMap& knobs) {
  return test::boot_profile("llama-cpp", dir, knobs);
}

std::int64_t whole(const Json& json) {
  REQUIRE(json.as_int());
  return *json.as_int();
}

/// What the server's own timings say of one sample's requests.
struct Timed {
  std::int64_t predicted = 0, drafted = 0, accepted = 0;
};

Timed timed(const store::SampleRow& sample) {
  Timed sum;
  for (const store::RequestRow& request : sample.requests) {
    const auto timings = parse_json(request.timings_json);
    REQUIRE(timings);
    const std::int64_t predicted = whole((*timings)["predicted_n"]);
    CHECK(request.tokens_source == "usage");
    CHECK(request.completion_tokens == predicted);
    CHECK(request.usage_completion_tokens == predicted);
    sum.predicted += predicted;
    sum.drafted += (*timings)["draft_n"].as_int().value_or(0);
    sum.accepted += (*timings)["draft_n_accepted"].as_int().value_or(0);
  }
  return sum;
}

/// One request's tokens: as the server's log has them, or as the client's record does.
struct Tokens {
  std::int64_t prompt = -1, cached = -1, generated = -1;
  friend bool operator==(const Tokens&, const Tokens&) = default;
  friend bool operator<(const Tokens& a, const Tokens& b) {
    return std::tie(a.prompt, a.cached, a.generated) < std::tie(b.prompt, b.cached, b.generated);
  }
};
std::ostream& operator<<(std::ostream& out, const Tokens& t) {
  return out << "{prompt " << t.prompt << ", cached " << t.cached << ", generated " << t.generated << "}";
}

std::int64_t number_behind(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return -1;
  std::string_view rest = line.substr(at + words.size());
  rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  return parse_int(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(-1);
}

/// What the server's own log says of every task: the prompt's tokens, those of it in the cache, those generated.
std::multiset<Tokens> logged_requests(const std::string& log) {
  std::map<std::int64_t, Tokens> tasks;
  for (const std::string_view line : split_lines(log)) {
    const std::int64_t task = number_behind(line, "| task ");
    if (task < 0) continue;
    Tokens& tokens = tasks[task];
    if (const auto n = number_behind(line, "task.n_tokens = "); n >= 0) tokens.prompt = n;
    if (const auto n = number_behind(line, "cached n_tokens = "); n >= 0) tokens.cached = n;
    const bool generation =
        line.find("eval time =") != std::string_view::npos && line.find("prompt eval time =") == std::string_view::npos;
    if (generation) tokens.generated = number_behind(line, " ms /");
  }
  std::multiset<Tokens> all;
  for (const auto& [task, tokens] : tasks) {
    if (tokens.prompt >= 0) all.insert(tokens);
  }
  return all;
}

std::multiset<Tokens> recorded_requests(const std::vector<store::SampleRow>& samples) {
  std::multiset<Tokens> all;
  for (const store::SampleRow& sample : samples) {
    for (const store::RequestRow& request : sample.requests) {
      all.insert({request.usage_prompt_tokens.value_or(-1), request.usage_cached_tokens.value_or(-1),
                  request.usage_completion_tokens.value_or(-1)});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("on the real llama.cpp server tokens and acceptance equal usage, timings and counters to the last token",
          "[.engine]") {
  if (!test::is_installed("venv/bin/python", "./dev engines")) return;
  for (const std::string spec : {"none", "ngram", "draft"}) {
    INFO("SPEC=" << spec);
    const TempDir dir;
    auto engine = boot_llama(dir, {{"SPEC", spec}});
    const std::string db = (dir.path() / "r.db").string();
    const engine::Counters before = counters_of(*engine);
    const std::size_t booted = read_file(dir.path() / "engine.log").value().size();
    const Captured run = run_program({"bench-dec", "--base-url", engine->facts().endpoint.base_url, "-C", "1,2",
                                      "--reps", "1", "--tokens", "24", "--content", "structured", "--db", db, "--json"},
                                     {}, dir.path().string(), 400 * kSecond);
    INFO(run.err);
    REQUIRE(run.exit.code == 0);
    const engine::Counters after = counters_of(*engine);

    Timed total;
    std::vector<store::SampleRow> measured;
    for (const store::SampleRow& sample : samples_in(db)) {
      const Timed own = timed(sample);
      total.predicted += own.predicted;
      total.drafted += own.drafted;
      total.accepted += own.accepted;
      if (spec != "none" && own.drafted > 0) {
        CHECK(whole_of(sample.accept_draft_tokens) == own.drafted);
        CHECK(whole_of(sample.accept_accepted) == own.accepted);
        CHECK(*sample.accept_raw == Approx(static_cast<double>(own.accepted) / static_cast<double>(own.drafted)));
      } else {
        CHECK_FALSE(sample.accept_raw);
        CHECK_FALSE(sample.accept_reason.empty());
      }
      if (!sample.warmup) measured.push_back(sample);
    }
    CHECK(total.predicted > 0);
    CHECK(counted(before.generation_tokens, after.generation_tokens) == total.predicted);
    if (spec != "none") {
      CHECK(total.drafted > 0);
      CHECK(counted(before.draft_tokens, after.draft_tokens) == total.drafted);
      CHECK(counted(before.accepted_tokens, after.accepted_tokens) == total.accepted);
    }

    engine.reset();  // its log is whole once it has ended
    const auto log = read_file(dir.path() / "engine.log");
    REQUIRE(log);
    const auto recorded = recorded_requests(samples_in(db));
    CHECK(recorded.size() >= 3);
    CHECK(logged_requests(log->substr(booted)) == recorded);  // what was asked at boot stands before

    const auto json = parse_json(run.out);
    REQUIRE(json);
    const auto& rows = (*json)["rows"].items();
    REQUIRE(rows.size() == measured.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      CHECK(whole(rows[i]["completion_tokens"]) == timed(measured[i]).predicted);
  }
}

TEST_CASE("bench-probe shows one request of the real llama.cpp server as the server counted it", "[.engine]") {
  if (!test::is_installed("venv/bin/python", "./dev engines")) return;
  const TempDir dir;
  const auto engine = boot_llama(dir, {{"SPEC", "draft"}});
  const engine::Counters before = counters_of(*engine);
  const Captured run = run_program({"bench-probe", "--base-url", engine->facts().endpoint.base_url, "-n", "1",
                                    "--warmup", "0", "--prompt-tokens", "256", "--tokens", "32", "--json"},
                                   {}, dir.path().string(), 400 * kSecond);
  INFO(run.out << run.err);
  REQUIRE(run.exit.code == 0);
  const engine::Counters after = counters_of(*engine);
  const auto json = parse_json(run.out);
  REQUIRE(json);
  const Json& shown = *json;
  CHECK(shown["status"].as_string() == "ok");
  CHECK(whole(shown["completion_tokens"]) == whole(shown["usage"]["completion_tokens"]));
  CHECK(whole(shown["completion_tokens"]) == whole(shown["timings"]["predicted_n"]));
  CHECK(whole(shown["timings"]["prompt_n"]) + whole(shown["timings"]["cache_n"]) == whole(shown["prompt_tokens"]));
  CHECK(whole_of(shown["acceptance"]["draft_tokens"].as_double()) == counted(before.draft_tokens, after.draft_tokens));
  CHECK(whole_of(shown["acceptance"]["accepted"].as_double()) ==
        counted(before.accepted_tokens, after.accepted_tokens));
  CHECK(whole(shown["timings"]["draft_n"]) == counted(before.draft_tokens, after.draft_tokens));
  CHECK(whole(shown["timings"]["draft_n_accepted"]) == counted(before.accepted_tokens, after.accepted_tokens));
}
