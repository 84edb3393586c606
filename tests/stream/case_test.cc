#include <catch2/catch.hpp>

#include "base/json.h"
#include "base/sha256.h"
#include "replay.h"

using namespace bk;
using namespace bk::stream;
using namespace bk::stream::test;

namespace {

double ms(const std::optional<Nanos>& t) { return t ? to_ms(*t) : -1; }

std::vector<double> gaps_ms(const RequestRecord& record) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < record.events.size(); ++i)
    gaps.push_back(to_ms(record.events[i].at - record.events[i - 1].at));
  return gaps;
}

std::vector<int> tokens(const RequestRecord& record) {
  std::vector<int> out;
  for (const TokenEvent& event : record.events) out.push_back(event.tokens);
  return out;
}

}  // namespace

TEST_CASE("case 01: hostile splits give the same record") {
  const std::string bytes = fixture("01-sse-split-bytes/stream.sse");
  const RequestRecord whole = replay_body(bytes);
  CHECK(whole.outcome == Outcome::kOk);
  CHECK(whole.data_events == 7);
  CHECK(whole.events.size() == 4);
  CHECK(whole.content.size() == 36);
  CHECK(sha256_hex(whole.content) == "5099f85dc3b6b3797cd1b06e3d2d622b1fda828bf139acfddec62df79b6c219f");
  REQUIRE(whole.usage);
  CHECK(whole.usage->prompt_tokens == 9);
  CHECK(whole.completion_tokens == 12);
  const auto splits = parse_json(fixture("01-sse-split-bytes/splits.json"));
  REQUIRE(splits);
  REQUIRE(splits->items().size() >= 8);
  for (const Json& split : splits->items()) {
    std::vector<std::size_t> positions;
    for (const Json& at : split["cut_before_byte"].items()) positions.push_back(static_cast<std::size_t>(*at.as_int()));
    std::vector<Read> reads;
    for (const std::string_view piece : cut(bytes, positions)) reads.push_back({kMillisecond, std::string(piece)});
    INFO(*split["what"].as_string());
    CHECK(digest(replay(reads)) == digest(whole));
  }
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    REQUIRE(digest(replay({{1, bytes.substr(0, i)}, {2, bytes.substr(i)}})) == digest(whole));
  }
}

TEST_CASE("case 02: line ends, blanks and fields give the same record") {
  std::string first;
  for (const char* name : {"lf", "crlf", "cr", "mixed", "bom-lf", "nospace-lf", "nospace-crlf", "fields"}) {
    INFO(name);
    const std::string bytes = fixture(std::string("02-sse-line-endings/") + name + ".sse");
    const RequestRecord record = replay_body(bytes);
    CHECK(record.outcome == Outcome::kOk);
    CHECK(record.data_events == 7);
    CHECK(record.events.size() == 3);
    CHECK(record.content == "red green blue");
    CHECK(record.usage->prompt_tokens == 4);
    CHECK(record.completion_tokens == 3);
    CHECK(record.done_seen);
    if (first.empty()) first = digest(record);
    CHECK(digest(record) == first);
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      if (bytes[i - 1] != '\r') continue;
      REQUIRE(digest(replay({{1, bytes.substr(0, i)}, {2, bytes.substr(i)}})) == first);
    }
  }
}

TEST_CASE("case 04: several events in one read") {
  const RequestRecord two = replay(read_case("04-sse-coalesced-burst/two-in-one-read.jsonl"));
  CHECK(two.outcome == Outcome::kOk);
  CHECK(gaps_ms(two) == std::vector<double>{20, 0, 20});
  CHECK(ms(two.ttft) == 80);
  CHECK(two.decode_tok_s.value == 75.0);
  CHECK(two.decode_basis == DecodeBasis::kExact);
  CHECK_FALSE(two.burst);

  const RequestRecord whole = replay(read_case("04-sse-coalesced-burst/whole-body-at-once.jsonl"));
  CHECK(whole.outcome == Outcome::kOk);
  CHECK(whole.events.size() == 64);
  CHECK(ms(whole.ttft) == 2000);
  CHECK(whole.burst);
  CHECK_FALSE(whole.decode_tok_s.value);
  CHECK(whole.decode_tok_s.reason == "burst");
  CHECK_FALSE(whole.decode_tok_s_n_minus_1.value);
  CHECK_FALSE(whole.tpot_ms.value);
  CHECK(whole.decode_basis == DecodeBasis::kNone);
  CHECK(whole.e2e_tok_s.value == 32.0);
}

TEST_CASE("case 06: reasoning counts as generated text, once") {
  for (const char* name : {"key-reasoning", "key-reasoning_content", "both-keys-same-text"}) {
    INFO(name);
    const RequestRecord record = replay(read_case(std::string("06-ttft-reasoning/") + name + ".jsonl"));
    CHECK(record.outcome == Outcome::kOk);
    CHECK(ms(record.ttft) == 210);
    CHECK(ms(record.first_answer) == 900);
    CHECK(record.events.size() == 6);
    CHECK(record.completion_tokens == 6);
    CHECK(record.usage->reasoning_tokens == 4);
    CHECK(gaps_ms(record) == std::vector<double>{20, 20, 20, 630, 20});
    CHECK(record.content == "42");
    CHECK(record.reasoning == "Okay, thinking");
  }
}

TEST_CASE("case 09: usage is a running total") {
  const RequestRecord complete = replay(read_case("09-usage-cumulative/complete.jsonl"));
  CHECK(complete.outcome == Outcome::kOk);
  CHECK(complete.completion_tokens == 7);
  CHECK(complete.usage->prompt_tokens == 10);
  CHECK(complete.tokens_source == TokensSource::kUsage);
  CHECK(tokens(complete) == std::vector<int>{1, 1, 2, 3});
  CHECK(complete.decode_tok_s.value == Approx(6 / 0.080));

  const RequestRecord cut = replay(read_case("09-usage-cumulative/cut-after-null.jsonl"));
  CHECK(cut.outcome == Outcome::kCut);
  CHECK_FALSE(cut.reason.empty());
  CHECK(cut.completion_tokens == 4);
  CHECK(cut.tokens_source == TokensSource::kContinuousUsage);
  CHECK_FALSE(cut.decode_tok_s.value);
  CHECK(cut.decode_tok_s.reason == "request_failed");
}

TEST_CASE("case 10: several tokens in one event") {
  struct Row {
    const char* name;
    double decode, tpot;
    DecodeBasis basis;
    int per_event;
  };
  for (const Row& row :
       {Row{"continuous-usage", 80, 12.5, DecodeBasis::kExact, 4}, Row{"token_ids", 80, 12.5, DecodeBasis::kExact, 4},
        Row{"final-usage-only", 100, 10, DecodeBasis::kNMinusOne, -1}}) {
    INFO(row.name);
    const RequestRecord record = replay(read_case(std::string("10-spec-multitoken/") + row.name + ".jsonl"));
    CHECK(record.outcome == Outcome::kOk);
    CHECK(record.completion_tokens == 16);
    CHECK(ms(record.ttft) == 100);
    CHECK(gaps_ms(record) == std::vector<double>{50, 50, 50});
    CHECK(tokens(record) == std::vector<int>(4, row.per_event));
    CHECK(record.decode_tok_s.value == Approx(row.decode));
    CHECK(record.tpot_ms.value == Approx(row.tpot));
    CHECK(record.decode_basis == row.basis);
    CHECK(record.decode_tok_s_n_minus_1.value == Approx(100));
  }
}

TEST_CASE("case 12: a failure inside a 200") {
  const std::vector<std::pair<const char*, const char*>> failed = {
      {"a-error-object-then-done", "engine stopped"},
      {"b-error-field-name", "engine stopped"},
      {"c-unframed-json", "request (6009 tokens) is larger than the context (4096 tokens)"},
      {"d-event-error", "worker lost"},
      {"e-error-string", "model is loading"},
      {"f-finish-abort", "finish_reason abort"}};
  for (const auto& [name, reason] : failed) {
    const std::string bytes = fixture(std::string("12-error-in-200/") + name + ".sse");
    INFO(name);
    for (const auto kind : {StreamEnd::Kind::kComplete, StreamEnd::Kind::kCut}) {
      const RequestRecord record = replay_body(bytes, kind);
      CHECK(record.outcome == Outcome::kServerError);
      CHECK(record.reason == reason);
      CHECK_FALSE(record.decode_tok_s.value);
      CHECK_FALSE(record.prefill_tok_s.value);
      CHECK_FALSE(record.e2e_tok_s.value);
    }
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      REQUIRE(digest(replay({{1, bytes.substr(0, i)}, {2, bytes.substr(i)}})) == digest(replay_body(bytes)));
    }
  }
  const RequestRecord fine = replay_body(fixture("12-error-in-200/g-error-null-is-fine.sse"));
  CHECK(fine.outcome == Outcome::kOk);
  CHECK(fine.completion_tokens == 2);

  const std::string http = fixture("12-error-in-200/h-json-body-not-sse.http");
  for (const char* type : {"application/json", ""}) {
    Timeline timeline;
    timeline.sent(0, 0, false);
    timeline.headers(200, type, 1);
    timeline.bytes(http.substr(http.find('{')), 2);
    const RequestRecord record = timeline.finish({StreamEnd::Kind::kComplete, {}, 3});
    CHECK(record.outcome == Outcome::kServerError);
    CHECK(record.reason == "engine stopped");
  }
}

TEST_CASE("case 15: one token, no token") {
  const RequestRecord one = replay(read_case("15-stats-edge/one-token.jsonl"));
  CHECK(one.outcome == Outcome::kOk);
  CHECK(ms(one.ttfr) == 10);
  CHECK(ms(one.ttft) == 70);
  CHECK(one.prefill_tok_s.value == Approx(2048 / 0.070));
  CHECK_FALSE(one.decode_tok_s.value);
  CHECK(one.decode_tok_s.reason == "one_event");
  CHECK_FALSE(one.burst);

  const RequestRecord none = replay(read_case("15-stats-edge/no-token.jsonl"));
  CHECK(none.outcome == Outcome::kOk);
  CHECK_FALSE(none.ttft);
  CHECK_FALSE(none.first_answer);
  CHECK_FALSE(none.last_token);
  CHECK(none.completion_tokens == 0);
  for (const Figure* figure : {&none.decode_tok_s, &none.tpot_ms, &none.prefill_tok_s, &none.e2e_tok_s}) {
    CHECK_FALSE(figure->value);
    CHECK(figure->reason == "no_tokens");
  }
}
