// Pacing, prompts, sizing and figures: pure.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/text.h"
#include "load/aggregate.h"
#include "load/pacing.h"
#include "load/prompts.h"
#include "load/sizing.h"
#include "stream/figures.h"

namespace bk::load {
namespace {

TEST_CASE("The generator gives the published sequence") {
  Random random(1234567);  // reference values of SplitMix64's authors
  for (const std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL}) {
    CHECK(random.next() == expected);
  }
}

TEST_CASE("Draws below a bound are uniform") {
  Random random(1);
  std::vector<int> seen(7, 0);
  for (int i = 0; i < 70'000; ++i) ++seen[random.below(7)];
  // chi-square with 6 degrees of freedom: 22.46 is passed once in 1,000 seeds
  double chi2 = 0;
  for (const int n : seen) chi2 += (n - 10'000.0) * (n - 10'000.0) / 10'000.0;
  CHECK(chi2 < 22.46);
  CHECK(random.below(0) == 0);
  CHECK(random.below(1) == 0);
}

TEST_CASE("Closed, staggered and constant starts") {
  CHECK(at_once(3) == std::vector<Nanos>{0, 0, 0});
  CHECK(at_once(-1).empty());
  CHECK(staggered(4, 1000) == std::vector<Nanos>{0, 250, 500, 750});
  CHECK(staggered(0, 1000).empty());
  CHECK(*constant_arrivals(4, 3) == std::vector<Nanos>{0, kSecond / 4, kSecond / 2});
  for (const double rate : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    CHECK(constant_arrivals(rate, 1).error().code == Errc::kUsage);
    CHECK(poisson_arrivals(rate, 1, 0).error().code == Errc::kUsage);
  }
  CHECK(constant_arrivals(1, -1).error().code == Errc::kUsage);
}

TEST_CASE("Poisson gaps have the mean and the spread of an exponential law") {
  const auto starts = *poisson_arrivals(50, 20'000, 7);
  CHECK(starts == *poisson_arrivals(50, 20'000, 7));
  CHECK(starts != *poisson_arrivals(50, 20'000, 8));
  CHECK(std::is_sorted(starts.begin(), starts.end()));
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const double gap = to_s(starts[i] - (i == 0 ? 0 : starts[i - 1]));
    sum += gap;
    squares += gap * gap;
  }
  const double n = static_cast<double>(starts.size());
  CHECK(sum / n == Approx(0.02).epsilon(0.03));                                     // 4 standard errors
  CHECK(std::sqrt(squares / n - sum * sum / n / n) == Approx(0.02).epsilon(0.05));  // sd equals the mean
}

TEST_CASE("Vocabularies are distinct words, each a prefix of the next") {
  for (const auto v : {Vocabulary::kKorean20, Vocabulary::kEnglish20}) {
    const auto& words = words_of(v);
    CHECK(std::set<std::string_view>(words.begin(), words.end()).size() == 20);
    for (const std::string_view word : words) {
      CHECK(is_utf8(word));
      CHECK(word.find(' ') == std::string_view::npos);
    }
  }
  const auto& all = words_of(Vocabulary::kEnglish20);
  CHECK(words_of(Vocabulary::kEnglish14) == std::vector<std::string_view>(all.begin(), all.begin() + 14));
  CHECK(words_of(Vocabulary::kEnglish12) == std::vector<std::string_view>(all.begin(), all.begin() + 12));
}

TEST_CASE("Prompts repeat with their seed and differ without it") {
  CHECK(decode_prompt(1001) == decode_prompt(1001));
  CHECK(decode_prompt(1001).find("1001") < decode_prompt(1001).find("에 대해"));
  const std::string a = prefill_prompt(Vocabulary::kEnglish20, 50, 1);
  const std::string b = prefill_prompt(Vocabulary::kEnglish20, 50, 2);
  CHECK(a == prefill_prompt(Vocabulary::kEnglish20, 50, 1));
  CHECK(a.substr(0, 16) != b.substr(0, 16));  // a prefix cache works in blocks: the nonce must come first
  std::set<std::string> nonces;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) nonces.insert(nonce(seed));
  CHECK(nonces.size() == 1000);
  Random random(3);
  CHECK(split(filler(Vocabulary::kKorean20, 7, random), ' ').size() == 7);
  CHECK(filler(Vocabulary::kKorean20, 0, random).empty());
  CHECK(words_for_tokens(13) == 10);
}

// A tokenizer of a kind: words of more than five letters take two tokens, and the template takes nine.
Result<std::int64_t> toy_tokens(const std::string& text) {
  std::int64_t tokens = 9;
  for (const std::string_view word : split(text, ' ')) tokens += word.size() > 5 ? 2 : 1;
  return tokens;
}

TEST_CASE("A prompt gets exactly the size that was asked for") {
  const std::int64_t wanted = GENERATE(40, 41, 128, 1000, 2047, 2048, 32'000);
  const auto vocabulary = GENERATE(Vocabulary::kEnglish20, Vocabulary::kKorean20);
  int calls = 0;
  const auto prompt = sized_prompt({wanted, vocabulary, 5, 24}, [&calls](const std::string& text) {
    ++calls;
    return toy_tokens(text);
  });
  REQUIRE(prompt);
  CHECK(prompt->exact);
  CHECK(prompt->tokens == wanted);
  CHECK(*toy_tokens(prompt->text) == wanted);
  CHECK(prompt->text.substr(0, nonce(5).size()) == nonce(5));
  CHECK(calls <= 24);
}

TEST_CASE("Sizing says when it cannot") {
  const auto small = sized_prompt({5, Vocabulary::kEnglish20, 1, 24}, toy_tokens);
  REQUIRE_FALSE(small);
  CHECK(small.error().code == Errc::kUsage);
  const auto broken =
      sized_prompt({100, Vocabulary::kEnglish20, 1, 24},
                   [](const std::string&) -> Result<std::int64_t> { return fail(Errc::kUnavailable, "no /tokenize"); });
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == Errc::kUnavailable);
  // A server whose counts only move in steps of 16 cannot be hit exactly: the nearest size below is given.
  const auto steps =
      sized_prompt({100, Vocabulary::kEnglish20, 1, 24},
                   [](const std::string& text) -> Result<std::int64_t> { return *toy_tokens(text) / 16 * 16; });
  REQUIRE(steps);
  CHECK_FALSE(steps->exact);
  CHECK(steps->tokens == 96);
}

TEST_CASE("Two counted prompts calibrate the next") {
  const auto c = calibrate(100, 142, 300, 402);
  REQUIRE(c);
  CHECK(c->tokens_per_word == Approx(1.3));
  CHECK(c->frame_tokens == Approx(12));
  CHECK(c->words_for(2048) == 1566);
  CHECK(c->words_for(3) == 0);
  CHECK(calibrate(100, 1, 100, 2).error().code == Errc::kUsage);
  CHECK(calibrate(100, 50, 200, 40).error().code == Errc::kUnavailable);
}

TEST_CASE("The median is the middle, or the mean of the middle two") {
  CHECK(median({}) == std::nullopt);
  CHECK(median({3}) == 3);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
}

TEST_CASE("Requests under way at once are those whose times overlap") {
  const auto request = [](Nanos sent, std::optional<Nanos> took) {
    stream::RequestRecord record;
    record.sent = sent;
    record.end = took;
    return record;
  };
  CHECK(most_at_once({}) == 0);
  CHECK(most_at_once({request(10, 10), request(15, 10), request(20, 10)}) == 2);  // one ends as another begins
  CHECK(most_at_once({request(10, 30), request(15, 10), request(20, 10)}) == 3);
  CHECK(most_at_once({request(0, 99), request(10, std::nullopt), request(12, 1)}) == 1);
}

TEST_CASE("An answer that came at once has no gaps between its events") {
  load::Sample sample;
  stream::RequestRecord request;
  request.events = {{0, 1}, {1'000, 10}, {2'000, 10}};
  for (const char* reason : {"burst", "zero_window", stream::kTooFast}) {
    request.decode_tok_s = stream::Figure::none(reason);
    sample.requests = {request};
    load::fill_metrics(&sample);
    CHECK(sample.metrics["itl_event_ms"].reason == reason);
    CHECK(sample.metrics["step_s"].reason == reason);
  }
  request.completion_tokens = 21;
  request.end = kMillisecond;
  request.e2e_tok_s = stream::Figure::none(stream::kTooFast);
  sample.requests = {request};
  load::fill_metrics(&sample);
  CHECK(sample.metrics["round_tok_s"].reason == stream::kTooFast);
  request.decode_tok_s = stream::Figure::none("no_usage");
  sample.requests = {request};
  load::fill_metrics(&sample);
  CHECK(sample.metrics["itl_event_ms"].value == Approx(0.001));
}

TEST_CASE("Steps per second come from the acceptance") {
  Sample sample;
  stream::RequestRecord request;
  request.decode_tok_s = stream::Figure::of(60);
  sample.requests.push_back(request);
  sample.acceptance.reason = "metrics_unavailable";
  fill_metrics(&sample);
  CHECK(sample.metrics["step_s"].reason == "metrics_unavailable");
  engine::Acceptance acceptance;
  acceptance.k_eff = 5;
  acceptance.raw = 0.3;
  sample.acceptance = {acceptance, "", {}};
  fill_metrics(&sample);
  CHECK(sample.metrics["step_s"].value == Approx(24));  // 60 / (1 + 5 * 0.3)
}

}  // namespace
}  // namespace bk::load
