// The comparison of a client's times with the engine's own record.
#include "truth.h"

#include <catch2/catch.hpp>

#include "grid.h"

namespace bk::perf {
namespace {

// One stream: received at 1 ms, events sent at 201, 206 and 211 ms; the client sent at 0.9 ms and saw them late.
Json client_of(const std::string& times) {
  return *parse_json(R"({"requests":[{"id":"perf-0","sent":900000,"events":[)" + times + "]}]}");
}
const char* const kTruth =
    R"({"requests":[{"client_request_id":"perf-0","received_ns":1000000,
        "events":[[201000000,1],[206000000,1],[211000000,1]]}]})";

const char* const kSpeculated =
    R"({"requests":[{"received_ns":1000000000,"events":[[1200000000,3],[1250000000,8],[1300000000,1]]},
                    {"received_ns":1100000000,"events":[[1300000000,1],[1400000000,1]]}]})";

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
  CHECK(one->ttft_ms == Approx(200));
  CHECK(one->tokens == 12);
  CHECK(one->decode_tok_s == Approx(9 / 0.1));  // the first event's three tokens are prefill's
  CHECK(true_aggregate({*one, *two}) == Approx(14 / 0.4));
  CHECK(true_request(*parse_json(R"({"received_ns":1,"events":[[2,1]]})")).error().code == Errc::kMismatch);
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
