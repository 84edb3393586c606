// Pure parts of the load legs: windows of the step counter, phases of a stream, goodput.
#include <catch2/catch.hpp>

#include "leg/cold.h"
#include "leg/concurrency.h"
#include "leg/phases.h"
#include "leg/step_sampler.h"

namespace bk::test {
namespace {

using stream::RequestRecord;

RequestRecord stream_of(const std::vector<std::pair<double, int>>& events) {
  RequestRecord record;
  record.sent = 100 * kSecond;
  for (const auto& [ms, tokens] : events) record.events.push_back({from_ms(ms), tokens});
  record.end = record.events.empty() ? 0 : record.events.back().at;
  return record;
}

RequestRecord ingest_of(double begin_ms, double length_ms) {
  RequestRecord record;
  record.sent = 100 * kSecond + from_ms(begin_ms);
  record.end = from_ms(length_ms);
  return record;
}

TEST_CASE("Step windows drop what is not positive and what lies under half of the median") {
  const std::vector<leg::StepReading> readings = {{0, 100},           {2 * kSecond, 148}, {4 * kSecond, 196},
                                                  {6 * kSecond, 206}, {8 * kSecond, 206}, {10 * kSecond, 254},
                                                  {12 * kSecond, 10}, {14 * kSecond, 60}};
  CHECK(leg::window_step_rates(readings) == std::vector<double>{24, 24, 24, 25});
  CHECK(leg::window_step_rates({{0, 5}}).empty());
  CHECK(leg::window_step_rates({}).empty());
}

TEST_CASE("A stream is cut where the other request's prefill begins and ends") {
  // 10 ms an event of 2 tokens; one gap of 300 ms that the ingest (200..450 ms) makes.
  std::vector<std::pair<double, int>> events;
  for (int ms = 100; ms <= 200; ms += 10) events.emplace_back(ms, 2);
  for (int ms = 500; ms <= 600; ms += 10) events.emplace_back(ms, 2);
  const auto d = leg::disturbance_of(stream_of(events), ingest_of(205, 250));
  REQUIRE(d);
  REQUIRE(d->phases.size() == 3);
  CHECK(d->phases[0].tokens.value == 20);  // the first event opens the stretch
  CHECK(d->phases[0].tok_s.value.value() == Approx(20 / 0.105));
  CHECK(d->phases[0].gap_max_ms.value == 10);
  CHECK(d->phases[1].events == 0);
  CHECK(d->phases[1].tok_s.value == 0);
  CHECK(d->phases[1].gap_max_ms.value == 300);
  CHECK(d->phases[2].tokens.value == 22);
  CHECK(d->phases[2].tok_s.value.value() == Approx(22 / 0.145));
  REQUIRE(d->longest.size() == 8);
  CHECK(d->longest[0].length == 300 * kMillisecond);
  CHECK(d->longest[0].begin == 200 * kMillisecond);
  CHECK(d->longest[0].phase == "during");
}

TEST_CASE("Events without token counts give event rates and no token rates") {
  const auto d = leg::disturbance_of(stream_of({{10, -1}, {20, -1}, {30, -1}, {40, -1}}), ingest_of(15, 10));
  REQUIRE(d);
  CHECK_FALSE(d->phases[1].tok_s.value);
  CHECK(d->phases[1].tok_s.reason == "tokens_per_event_unknown");
  CHECK(d->phases[1].events_s.value.value() == Approx(100));
}

TEST_CASE("A stretch that no engine decodes has no rate") {
  // Held back while the ingest ran, then all of it within a millisecond: by tokens, and by events where nobody counts.
  std::vector<std::pair<double, int>> uncounted = {{10, -1}, {20, -1}, {40, -1}};
  for (int i = 0; i < 50; ++i) uncounted.emplace_back(41, -1);
  const auto events = leg::disturbance_of(stream_of(uncounted), ingest_of(15, 25));
  REQUIRE(events);
  CHECK(events->phases[2].events_s.reason == "faster_than_any_engine");
  CHECK(events->phases[2].tok_s.reason == "faster_than_any_engine");
  const auto tokens = leg::disturbance_of(stream_of({{10, 1}, {20, 1}, {40, 1}, {41, 50}}), ingest_of(15, 25));
  REQUIRE(tokens);
  CHECK(tokens->phases[2].tok_s.reason == "faster_than_any_engine");
  CHECK(tokens->phases[2].events_s.value.value() == Approx(1000));
}

TEST_CASE("Events that came in one read with the first are not lost") {
  const auto d = leg::disturbance_of(stream_of({{10, 1}, {10, 2}, {10, 3}, {20, 4}, {30, 5}}), ingest_of(15, 10));
  REQUIRE(d);
  CHECK(d->phases[0].tokens.value == 5);
  CHECK(d->phases[1].tokens.value == 4);
  CHECK(d->phases[2].tokens.value == 5);
}

TEST_CASE("A disturbance outside the stream is no result") {
  const RequestRecord stream = stream_of({{10, 1}, {20, 1}});
  RequestRecord failed = ingest_of(15, 2);
  failed.outcome = stream::Outcome::kCut;
  failed.reason = "the stream broke off";
  CHECK(leg::disturbance_of(stream, ingest_of(5, 10)).error().code == Errc::kInconclusive);
  CHECK(leg::disturbance_of(stream, ingest_of(20, 10)).error().code == Errc::kInconclusive);
  CHECK(leg::disturbance_of(stream_of({}), ingest_of(20, 10)).error().code == Errc::kInconclusive);
  CHECK(leg::disturbance_of(stream, failed).error().code == Errc::kServer);
  CHECK(leg::disturbance_of(stream, failed).error().what == "the ingest failed: the stream broke off");
}

TEST_CASE("Latency counts from the scheduled start, and so do the limits") {
  RequestRecord record;
  record.scheduled = kSecond;
  record.sent = kSecond + 400 * kMillisecond;  // it waited in the client
  record.ttft = 50 * kMillisecond;
  record.end = 150 * kMillisecond;
  record.tpot_ms = stream::Figure::of(5);
  CHECK(leg::ttft_from_schedule_ms(record) == 450);
  CHECK(leg::latency_from_schedule_ms(record) == 550);
  CHECK(leg::is_good(record, {}));
  CHECK(leg::is_good(record, {450, 5}));
  CHECK_FALSE(leg::is_good(record, {449, {}}));
  CHECK_FALSE(leg::is_good(record, {{}, 4.9}));
  record.outcome = stream::Outcome::kTimeout;
  CHECK_FALSE(leg::is_good(record, {}));
  CHECK_FALSE(leg::latency_from_schedule_ms(record));
}

TEST_CASE("Cells are named after whole K where they are whole") {
  CHECK(leg::tokens_label(2048) == "2K");
  CHECK(leg::tokens_label(131072) == "128K");
  CHECK(leg::tokens_label(2000) == "2000");
}

}  // namespace
}  // namespace bk::test
