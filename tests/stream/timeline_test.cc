#include "stream/timeline.h"

#include <catch2/catch.hpp>

#include "replay.h"
#include "stream/figures.h"

using namespace bk;
using namespace bk::stream;
using namespace bk::stream::test;

namespace {

std::string content(const std::string& text, const std::string& rest = "") {
  return R"(data: {"choices":[{"index":0,"delta":{"content":")" + text + R"("},"finish_reason":null}])" + rest +
         "}\n\n";
}

std::string finish(const std::string& reason, const std::string& rest = "") {
  return R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":")" + reason + R"("}])" + rest + "}\n\n";
}

std::string usage(int completion) {
  return R"(,"usage":{"prompt_tokens":10,"completion_tokens":)" + std::to_string(completion) + "}";
}

const std::string kDone = "data: [DONE]\n\n";

}  // namespace

TEST_CASE("an engine that dies inside a 200") {
  // The event that vLLM 0.32 sends, spaced as it is, with [DONE] behind it.
  const std::string death =
      R"(data: {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "param": null, "code": 500}})"
      "\n\n" +
      kDone;
  for (const std::string& before : {std::string(), content("a") + content("b")}) {
    const RequestRecord record = replay_body(before + death);
    CHECK(record.outcome == Outcome::kServerError);
    CHECK(record.reason == "EngineCore encountered an issue.");
    CHECK(record.done_seen);
  }
}

TEST_CASE("how the transport ended decides where the server said nothing") {
  using Kind = StreamEnd::Kind;
  const std::string open = content("a") + content("b");
  struct Row {
    const char* what;
    std::string body;
    Kind kind;
    Outcome want;
  };
  const std::vector<Row> rows = {
      {"no [DONE], a finish", open + finish("stop"), Kind::kComplete, Outcome::kOk},
      {"[DONE], no finish", open + kDone, Kind::kComplete, Outcome::kOk},
      {"neither", open, Kind::kComplete, Outcome::kCut},
      {"cut", open, Kind::kCut, Outcome::kCut},
      {"cut after [DONE]", open + finish("stop") + kDone, Kind::kCut, Outcome::kOk},
      {"cut between the finish and usage", open + finish("stop"), Kind::kCut, Outcome::kCut},
      {"cut inside usage", open + finish("stop") + "data: {\"choices\":[],\"usa", Kind::kCut, Outcome::kCut},
      {"cut behind usage", open + finish("stop", usage(2)), Kind::kCut, Outcome::kOk},
      {"cut inside an event", open + "data: {\"choi", Kind::kComplete, Outcome::kCut},
      {"timed out", open, Kind::kTimedOut, Outcome::kTimeout},
      {"timed out after the finish, before [DONE]", open + finish("stop"), Kind::kTimedOut, Outcome::kTimeout},
      {"timed out behind [DONE]", open + kDone, Kind::kTimedOut, Outcome::kOk},
      {"cancelled", open, Kind::kCancelled, Outcome::kCancelled},
      {"no last blank line", open + finish("stop") + "data: [DONE]\n", Kind::kComplete, Outcome::kOk},
      {"empty", "", Kind::kComplete, Outcome::kEmpty},
      {"comments only", ": ping\n\n: ping\n\n", Kind::kComplete, Outcome::kEmpty},
      {"[DONE] only", kDone, Kind::kComplete, Outcome::kEmpty},
      {"a page", "<html>\n<body>no</body>\n", Kind::kComplete, Outcome::kNotStream},
      {"broken JSON", open + "data: {\"choices\":[}\n\n" + kDone, Kind::kComplete, Outcome::kServerError},
      {"protocol error", open, Kind::kProtocol, Outcome::kCut},
      {"no connection", "", Kind::kConnectFailed, Outcome::kConnect},
      {"an error finish", open + finish("error") + kDone, Kind::kComplete, Outcome::kServerError},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const RequestRecord record = replay_body(row.body, row.kind);
    CHECK(record.outcome == row.want);
    CHECK(record.reason.empty() == record.ok());
  }
  CHECK(replay_body(open, Kind::kCut).content == "ab");
}

TEST_CASE("a refused request keeps its status and the server's words") {
  Timeline timeline;
  timeline.sent(5, 0, true);
  timeline.headers(429, "application/json", 9);
  timeline.bytes(R"({"error":{"message":"slow)", 10);
  timeline.bytes(R"( down","code":429}})", 11);
  const RequestRecord record = timeline.finish({StreamEnd::Kind::kComplete, {}, 12});
  CHECK(record.outcome == Outcome::kHttpStatus);
  CHECK(record.reason == "HTTP 429: slow down");
  CHECK(record.http_status == 429);
  Timeline empty;
  empty.headers(503, "", 1);
  CHECK(empty.finish({StreamEnd::Kind::kComplete, {}, 2}).reason == "HTTP 503");
}

TEST_CASE("times are relative to the last sent, and a reopening is counted") {
  Timeline timeline;
  timeline.scheduled(90);
  timeline.sent(100, 7, true);
  timeline.reopened();
  timeline.sent(1000, 40, false);
  timeline.headers(200, "text/event-stream", 1200);
  timeline.bytes(R"(data: {"choices":[{"delta":{"role":"assistant"}}]})"
                 "\n\n",
                 1300);
  timeline.bytes(R"(data: {"choices":[{"delta":{"reasoning":"r"}}]})"
                 "\n\n",
                 1400);
  timeline.bytes(content("a"), 1500);
  timeline.bytes(finish("stop", usage(2)) + kDone, 1600);
  const RequestRecord record = timeline.finish({StreamEnd::Kind::kComplete, {}, 1700});
  CHECK(record.scheduled == 90);
  CHECK(record.sent == 1000);
  CHECK(record.connect == 40);
  CHECK(record.reopened == 1);
  CHECK_FALSE(record.connection_reused);
  CHECK(record.headers == 200);
  CHECK(record.ttfr == 300);
  CHECK(record.ttft == 400);
  CHECK(record.first_answer == 500);
  CHECK(record.last_token == 500);
  CHECK(record.end == 700);
}

TEST_CASE("per-event counts need every event, and must agree with usage") {
  const auto ids = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + std::to_string(i);
    return R"(data: {"choices":[{"index":0,"delta":{"content":"x"},"token_ids":[)" + list + "]}]}\n\n";
  };
  struct Row {
    const char* what;
    std::vector<std::string> events;
    std::string end;
    std::optional<double> decode;  // tokens a second over a window of 100 ms
    DecodeBasis basis;
    TokensSource source;
  };
  const std::vector<Row> rows = {
      {"ids without usage", {ids(3), ids(2)}, finish("length"), 20, DecodeBasis::kExact, TokensSource::kTokenIds},
      {"ids and the unseen end token",
       {ids(3), ids(2)},
       finish("stop", usage(6)),
       20,
       DecodeBasis::kExact,
       TokensSource::kUsage},
      {"ids that miss tokens",
       {ids(3), ids(2)},
       finish("length", usage(9)),
       80,
       DecodeBasis::kNMinusOne,
       TokensSource::kUsage},
      {"ids in one event only",
       {ids(3), content("x")},
       finish("length", usage(5)),
       40,
       DecodeBasis::kNMinusOne,
       TokensSource::kUsage},
      {"running usage in one event only",
       {content("x", usage(3)), content("y")},
       finish("length", usage(5)),
       40,
       DecodeBasis::kNMinusOne,
       TokensSource::kUsage},
      {"running usage that falls",
       {content("x", usage(3)), content("y", usage(2))},
       finish("length", usage(5)),
       40,
       DecodeBasis::kNMinusOne,
       TokensSource::kUsage},
      {"running usage",
       {content("x", usage(1)), content("y", usage(5))},
       finish("length", usage(5)),
       40,
       DecodeBasis::kExact,
       TokensSource::kUsage},
      {"as many events as tokens",
       {content("x"), content("y")},
       finish("stop", usage(2)),
       10,
       DecodeBasis::kExact,
       TokensSource::kUsage},
      {"no usage at all",
       {content("x"), content("y")},
       finish("stop"),
       std::nullopt,
       DecodeBasis::kNone,
       TokensSource::kNone},
      {"usage null at the end",
       {content("x", usage(1)), content("y", usage(2))},
       finish("stop", ",\"usage\":null"),
       10,
       DecodeBasis::kExact,
       TokensSource::kUsage},
      {"one token in two events",
       {content("x", usage(1)), content("y", usage(1))},
       finish("stop", usage(1)),
       std::nullopt,
       DecodeBasis::kNone,
       TokensSource::kUsage},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::vector<Read> reads;
    for (const std::string& event : row.events)
      reads.push_back({static_cast<Nanos>(reads.size() + 1) * 100 * kMillisecond, event});
    reads.push_back({kSecond, row.end + kDone});
    const RequestRecord record = replay(reads);
    CHECK(record.outcome == Outcome::kOk);
    CHECK(record.decode_tok_s.value.has_value() == row.decode.has_value());
    if (row.decode) CHECK(record.decode_tok_s.value == Approx(*row.decode));
    CHECK(record.decode_tok_s.value.has_value() != !record.decode_tok_s.reason.empty());
    CHECK(record.decode_basis == row.basis);
    CHECK(record.tokens_source == row.source);
  }
}

TEST_CASE("a stream that no engine decodes has no rate") {
  struct Row {
    const char* what;
    std::vector<Read> reads;
    const char* decode;  // the reason, "" for a value
    const char* n_minus_1;
    const char* e2e;
  };
  const std::string end = finish("length", usage(41)) + kDone;
  std::string forty;
  for (int i = 0; i < 40; ++i) forty += content("x");
  const std::string counted = content("a", usage(1)), rest = content("b", usage(41));
  const Row rows[] = {
      {"forty tokens in 3 ms", {{kSecond, content("a")}, {kSecond + 3 * kMillisecond, forty + end}}, "", "", ""},
      {"in 2 ms", {{kSecond, content("a")}, {kSecond + 2 * kMillisecond, forty + end}}, kTooFast, kTooFast, ""},
      {"in one event", {{kSecond, counted}, {kSecond + 2 * kMillisecond, rest + end}}, kTooFast, kTooFast, ""},
      {"whole answer in 2 ms", {{0, counted}, {2 * kMillisecond, rest + end}}, kTooFast, kTooFast, kTooFast},
      {"uncounted, in 2 ms",
       {{kSecond, content("a")}, {kSecond + 2 * kMillisecond, forty + finish("length") + kDone}},
       kTooFast,
       kTooFast,
       "no_usage"},
      {"all but one token in the first event",
       {{kSecond, content("a", usage(40))}, {kSecond + kMillisecond, rest + end}},
       "",
       kTooFast,
       ""},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const RequestRecord record = replay(row.reads);
    CHECK(record.outcome == Outcome::kOk);
    CHECK_FALSE(record.burst);
    CHECK(record.decode_tok_s.reason == row.decode);
    CHECK(record.decode_tok_s.value.has_value() == record.decode_tok_s.reason.empty());
    CHECK(record.tpot_ms.reason == row.decode);
    CHECK(record.decode_tok_s_n_minus_1.reason == row.n_minus_1);
    CHECK(record.e2e_tok_s.reason == row.e2e);
    CHECK((record.decode_basis == DecodeBasis::kNone) == !record.decode_tok_s.value);
  }
  CHECK(stream_rate(19'999, kSecond).value == 19'999);
  CHECK(stream_rate(20'000, kSecond).reason == kTooFast);
  CHECK(stream_rate(1, 0).reason == "zero_window");
}

TEST_CASE("an answer shorter than ignore_eos asked for is a failed request") {
  const std::vector<Read> reads = {{100, content("a")}, {200, content("b")}, {300, finish("stop", usage(2)) + kDone}};
  CHECK(replay(reads, {2, true}).outcome == Outcome::kOk);
  const RequestRecord record = replay(reads, {3, true});
  CHECK(record.outcome == Outcome::kShort);
  CHECK(record.reason == "2 tokens of the 3 asked for");
  CHECK(record.completion_tokens == 2);
  const RequestRecord bare = replay(reads, {std::nullopt, false});
  CHECK(bare.content.empty());
  CHECK(bare.first_answer == 100);
}

TEST_CASE("cached tokens leave the prefill rate, a prompt wholly cached has none") {
  const auto body = [](int cached) {
    return std::vector<Read>{
        {100 * kMillisecond, content("a")},
        {200 * kMillisecond,
         finish("stop",
                R"(,"usage":{"prompt_tokens":1000,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":)" +
                    std::to_string(cached) + "}}") +
             kDone}};
  };
  CHECK(replay(body(0)).prefill_tok_s.value == Approx(10'000));
  CHECK(replay(body(600)).prefill_tok_s.value == Approx(4'000));
  CHECK(replay(body(1000)).prefill_tok_s.reason == "all_cached");
}

TEST_CASE("arrivals that step back are held") {
  const RequestRecord record =
      replay({{300, content("a")}, {200, content("b")}, {400, finish("stop", usage(2)) + kDone}});
  CHECK(record.events[1].at == 300);
  CHECK(record.decode_tok_s.reason == "zero_window");
}

TEST_CASE("every enum value has a name of its own") {
  for (int i = 0; i <= static_cast<int>(Outcome::kCancelled); ++i) {
    for (int j = 0; j < i; ++j) {
      CHECK(std::string(to_string(static_cast<Outcome>(i))) != to_string(static_cast<Outcome>(j)));
    }
  }
  CHECK(std::string(to_string(Outcome::kServerError)) == "server_error");
  CHECK(std::string(to_string(TokensSource::kContinuousUsage)) == "continuous_usage");
  CHECK(std::string(to_string(DecodeBasis::kNMinusOne)) == "n_minus_1");
}
