// Planned requests run on a transport.
#include "load/runner.h"

#include <catch2/catch.hpp>

#include "fake_transport.h"
#include "load/aggregate.h"

namespace bk::test {
namespace {

using load::PlannedRequest;
using stream::Outcome;

std::vector<PlannedRequest> plan_of(const std::vector<std::string>& kinds, Nanos gap = 0) {
  std::vector<PlannedRequest> plan;
  for (const std::string& kind : kinds) {
    PlannedRequest request;
    request.request.url = "http://127.0.0.1:1/v1";
    request.request.body = kind;
    request.offset = gap * static_cast<Nanos>(plan.size());
    plan.push_back(request);
  }
  return plan;
}

TEST_CASE("Records stand in the order of the plan, failures among them") {
  FakeTransport transport;
  std::vector<std::size_t> done;
  load::RunOptions options;
  options.on_done = [&done](std::size_t index, const stream::RequestRecord&) { done.push_back(index); };
  const load::Run run = load::run_requests(transport, plan_of({"ok", "refused", "cut", "ok"}), options);
  REQUIRE(run.requests.size() == 4);
  CHECK(run.requests[0].outcome == Outcome::kOk);
  CHECK(run.requests[1].outcome == Outcome::kConnect);
  CHECK(run.requests[1].reason == "cannot connect");
  CHECK(run.requests[2].outcome == Outcome::kCut);
  CHECK(run.requests[3].content == "ab");
  CHECK(run.requests[0].ttft == 2 * kMillisecond);
  CHECK(run.requests[0].completion_tokens == 2);
  CHECK(done == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(transport.preconnected == 4);
  CHECK(run.client.worst_delay == 7 * kMicrosecond);
  CHECK(run.ended >= run.started);
}

TEST_CASE("A server that sends elsewhere is not followed, and says where it sends") {
  FakeTransport transport;
  const load::Run run = load::run_requests(transport, plan_of({"moved"}));
  CHECK(run.requests[0].outcome == Outcome::kHttpStatus);
  CHECK(run.requests[0].reason ==
        "HTTP 307: the server sends on to http://b:1/v1, which is not followed: name the server that answers");
}

TEST_CASE("Open-loop requests start at their times, whatever their place in the plan") {
  FakeTransport transport;
  auto plan = plan_of({"ok", "ok", "ok"}, 10 * kMillisecond);
  std::swap(plan[0].offset, plan[2].offset);
  const load::Run run = load::run_requests(transport, plan);
  REQUIRE(transport.started.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& record = run.requests[i];
    CHECK(record.scheduled == run.started + static_cast<Nanos>(2 - i) * 10 * kMillisecond);
    CHECK(record.sent >= record.scheduled);
  }
  CHECK(transport.preconnected == 1);
}

TEST_CASE("A closed loop starts each request when the one before it in its stream has ended") {
  FakeTransport transport;
  auto plan = plan_of({"ok", "ok", "refused", "ok", "ok"});
  for (std::size_t i = 2; i < plan.size(); ++i) plan[i].after = i - 2;
  const load::Run run = load::run_requests(transport, plan);
  CHECK(transport.preconnected == 2);
  REQUIRE(transport.started.size() == 5);
  CHECK(run.requests[2].outcome == Outcome::kConnect);
  CHECK(run.requests[4].ok());  // a failed request does not end its stream
  CHECK(run.requests[3].scheduled == run.requests[1].sent + *run.requests[1].end);
}

TEST_CASE("A stop ends what is under way and what was still to come") {
  FakeTransport transport;
  load::RunOptions options;
  int polls = 0;
  options.stopped = [&polls] { return ++polls > 3; };
  auto plan = plan_of({"ok", "hang", "ok"});
  plan[2].offset = 3600 * kSecond;
  const load::Run run = load::run_requests(transport, plan, options);
  CHECK(run.requests[0].outcome == Outcome::kOk);
  CHECK(run.requests[1].outcome == Outcome::kCancelled);
  CHECK(run.requests[2].outcome == Outcome::kCancelled);
}

TEST_CASE("Fewer tokens than ignore_eos asked for is a short answer") {
  FakeTransport transport;
  auto plan = plan_of({"ok", "ok"});
  plan[0].expected_tokens = 3;
  plan[1].expected_tokens = 2;
  const load::Run run = load::run_requests(transport, plan);
  CHECK(run.requests[0].outcome == Outcome::kShort);
  CHECK(run.requests[1].outcome == Outcome::kOk);
}

TEST_CASE("An empty plan is an empty run") {
  FakeTransport transport;
  CHECK(load::run_requests(transport, {}).requests.empty());
}

TEST_CASE("A sample's figures are medians over its requests") {
  FakeTransport transport;
  load::Sample sample;
  sample.concurrency = 2;
  load::take_run(load::run_requests(transport, plan_of({"ok", "ok"})), &sample);
  load::fill_metrics(&sample);
  CHECK(sample.ok());
  CHECK(sample.metrics["ttft_ms"].value == Approx(2));
  CHECK(sample.metrics["itl_event_ms"].value == Approx(10));
  CHECK(sample.metrics["tpot_ms"].value == Approx(10));
  CHECK(sample.metrics["decode_tok_s"].value == Approx(100));
  CHECK(sample.metrics["prefill_tok_s"].value == Approx(2500));
  CHECK(sample.metrics["step_s"].reason == "concurrency_above_1");
  CHECK(sample.metrics["round_tok_s"].value > 0);
}

TEST_CASE("A sample with a failed request has no figures") {
  FakeTransport transport;
  load::Sample sample;
  CHECK_FALSE(sample.ok());
  load::fill_metrics(&sample);
  CHECK(sample.metrics["decode_tok_s"].reason == "no_requests");
  load::take_run(load::run_requests(transport, plan_of({"ok", "cut"})), &sample);
  load::fill_metrics(&sample);
  CHECK_FALSE(sample.ok());
  for (const auto& [name, figure] : sample.metrics) {
    INFO(name);
    CHECK_FALSE(figure.value);
    CHECK(figure.reason == "request_failed");
  }
}

}  // namespace
}  // namespace bk::test
