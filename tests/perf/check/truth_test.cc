// The comparison of a client's times with the engine's own record.
#include "truth.h"

#include <catch2/catch.hpp>

#include "grid_figures.h"

namespace bk::perf {
namespace {

// One stream: arrived at 1 ms, events sent at 201, 206 and 211 ms; the client sent at 0.9 ms and saw them late.
Json client_of(const std::string& times) {
  return *parse_json(R"({"requests":[{"id":"perf-0","sent":900000,"events":[)" + times + "]}]}");
}
const char* const kTruth =
    R"({"requests":[{"client_request_id":"perf-0","arrived_ns":1000000,
        "events":[[201000000,1],[206000000,1],[211000000,1]]}]})";

const char* const kSpeculated =
    R"({"requests":[{"arrived_ns":1000000000,"end_ns":1301000000,"prompt_tokens":160,"cached_tokens":100,
                     "events":[[1200000000,3],[1250000000,8],[1300000000,1]]},
                    {"arrived_ns":1100000000,"end_ns":1402000000,"events":[[1300000000,1],[1400000000,1]]}]})";

TEST_CASE("Errors are those of TTFT, rate and events") {
  const auto errors = compare(client_of("201010000,206020000,211130000"), *parse_json(kTruth));
  REQUIRE(errors);
  CHECK(errors->events == 3);
  CHECK(errors->ttft_mean_ms == Approx(0.11));  // 200.11 ms against 200 ms
  CHECK(errors->event_p50_us == Approx(20));
  CHECK(errors->event_p99_us == Approx(130));
  CHECK(errors->sent_per_s == Approx(300));
  CHECK(errors->rate_worst_pct == Approx(1.18577));  // 10 ms became 10.12 ms
}

TEST_CASE("Early times are errors too, and missing events are no comparison") {
  const auto early = compare(client_of("200990000,206000000,211000000"), *parse_json(kTruth));
  REQUIRE(early);
  CHECK(early->event_p99_us == Approx(10));
  const auto missing = compare(client_of("201000000,206000000"), *parse_json(kTruth));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::kMismatch);
  CHECK(compare(client_of("1,2,3"), *parse_json(R"({"requests":[]})")).error().code == Errc::kMismatch);
  CHECK(compare(*parse_json(R"({"requests":[]})"), *parse_json(kTruth)).error().code == Errc::kMismatch);
}

TEST_CASE("The engine's record gives TTFT and rates with several tokens an event") {
  const Json truth = *parse_json(kSpeculated);
  const auto one = true_request(truth["requests"].items()[0]), two = true_request(truth["requests"].items()[1]);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->ttft_ms() == Approx(200));
  CHECK(one->latency_ms() == Approx(301));
  CHECK(one->tokens == 12);
  CHECK(*one->decode_tok_s() == Approx(9 / 0.1));  // the first event's three tokens are prefill's
  CHECK(one->prefill_tok_s() == Approx(300));      // 100 of 160 prompt tokens came from the cache
  CHECK(per_second(tokens_of({*one, *two}), {*one, *two}) == Approx(14 / 0.402));
  const auto at_once = true_request(*parse_json(R"({"arrived_ns":1,"end_ns":9,"events":[[2,1],[2,4]]})"));
  REQUIRE(at_once);
  CHECK_FALSE(at_once->decode_tok_s());
  CHECK(true_request(*parse_json(R"({"arrived_ns":1,"end_ns":2,"events":[]})")).error().code == Errc::kMismatch);
  CHECK(true_request(*parse_json(R"({"arrived_ns":1,"end_ns":null,"events":[[2,1]]})")).error().code ==
        Errc::kMismatch);
}

TEST_CASE("An event at a phase's edge counts on the side where the client saw it, one within the phase always") {
  TrueRequest stream;
  stream.events = {{0, 1}, {100 * kMillisecond, 2}, {200 * kMillisecond, 4}, {300 * kMillisecond, 8}};
  const Nanos begin = 100 * kMillisecond + 1, end = 250 * kMillisecond;
  CHECK(true_phase_rate(stream, begin, end, kMillisecond, 27) == Approx(4 / 0.15));
  CHECK(true_phase_rate(stream, begin, end, kMillisecond, 39) == Approx(6 / 0.15));
  CHECK(true_phase_rate(stream, begin, end, 0, 39) == Approx(4 / 0.15));
  CHECK(true_phase_rate(stream, 0, 300 * kMillisecond, kMillisecond, 0) == Approx(14 / 0.3));
}

TEST_CASE("A program's figures stand beside those of its own requests") {
  const Json truth = *parse_json(kSpeculated);
  std::vector<TrueRequest> requests;
  for (const Json& one : truth["requests"].items()) requests.push_back(*true_request(one));
  const NewestRequests newest = [&](std::size_t n) -> Result<std::vector<TrueRequest>> {
    return std::vector<TrueRequest>(requests.end() - static_cast<std::ptrdiff_t>(n), requests.end());
  };
  const auto errors_in = [&](const char* text) {
    const auto figures = figures_beside_truth("bench-dec", *parse_json(text), newest);
    REQUIRE(figures);
    return errors_of(*figures);
  };
  // Medians of both streams: TTFT 200 ms, (90 + 10) / 2 tok/s, and 14 tokens in 402 ms.
  const GridErrors right = errors_in(
      R"({"rows":[{"concurrency":2,"ttft_ms":200.4,"decode_tok_s":50,"round_tok_s":34.8259,"completion_tokens":14}]})");
  CHECK(right.figures == 4);
  CHECK(right.time_ms == Approx(0.4));
  CHECK(right.rate_pct < 0.001);
  CHECK(right.within(1, 0.5));
  CHECK_FALSE(right.within(0.1, 0.5));
  const GridErrors wrong = errors_in(
      R"({"rows":[{"concurrency":2,"ttft_ms":200,"decode_tok_s":null,"round_tok_s":33,"completion_tokens":13}]})");
  CHECK(wrong.missing == 1);
  CHECK(wrong.wrong == 1);
  CHECK(wrong.worst_rate == "round_tok_s");
  CHECK(wrong.rate_pct == Approx(100 * (1 - 33 / (14 / 0.402))));
  CHECK_FALSE(wrong.within(1, 10));
  CHECK(figures_beside_truth("nosuch", Json::object(), newest).error().code == Errc::kMismatch);
}

TEST_CASE("Percentiles are nearest rank") {
  CHECK(percentile({}, 0.5) == 0);
  CHECK(percentile({7}, 0.99) == 7);
  CHECK(percentile({4, 1, 3, 2}, 0.5) == 2);
  CHECK(percentile({4, 1, 3, 2}, 0.51) == 3);
  CHECK(percentile({4, 1, 3, 2}, 1) == 4);
}

}  // namespace
}  // namespace bk::perf
