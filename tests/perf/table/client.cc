#include "client.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/clock.h"
#include "base/process.h"
#include "load/runner.h"

namespace bk::perf {
namespace {

constexpr Nanos kRunLimit = 120 * kSecond;

std::vector<load::PlannedRequest> planned(const ClientPlan& plan) {
  std::vector<load::PlannedRequest> requests(static_cast<std::size_t>(plan.streams));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].request.url = plan.url;
    requests[i].request.headers = {{"Content-Type", "application/json"}, {"X-Request-Id", fmt::format("perf-{}", i)}};
    requests[i].request.body =
        R"({"model":"deepseek-v4-flash","stream":true,"stream_options":{"include_usage":true},"max_tokens":512,)"
        R"("messages":[{"role":"user","content":"perf"}]})";
    requests[i].request.timeouts.total = kRunLimit;
  }
  return requests;
}

int most_open(const std::vector<stream::RequestRecord>& records) {
  std::vector<std::pair<Nanos, int>> changes;
  for (const auto& r : records) {
    if (!r.headers || !r.end) continue;
    changes.emplace_back(r.sent + *r.headers, 1);
    changes.emplace_back(r.sent + *r.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  int open = 0;
  int most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, open += change);
  return most;
}

Json request_json(std::size_t index, const stream::RequestRecord& record) {
  Json events = Json::array();
  for (const auto& event : record.events) events.push(record.sent + event.at);
  return Json::object().set("id", fmt::format("perf-{}", index)).set("sent", record.sent).set("events", events);
}

}  // namespace

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

Json run_client(const ClientPlan& plan) {
  const auto transport = http::make_curl_transport();
  load::RunOptions options;
  options.keep_text = false;
  const load::Run run = load::run_requests(*transport, planned(plan), options);
  Json report = Json::object();
  report.set("cpu_s", to_s(process_cpu_now())).set("rss_mb", peak_rss_mb()).set("open", most_open(run.requests));
  report.set("worst_delay_ms", to_ms(run.client.worst_delay));
  std::size_t failed = 0;
  std::size_t events = 0;
  std::string reason;
  Json requests = Json::array();
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const stream::RequestRecord& record = run.requests[i];
    events += record.events.size();
    if (!record.ok() && failed++ == 0) reason = fmt::format("{}: {}", to_string(record.outcome), record.reason);
    if (plan.keep_events) requests.push(request_json(i, record));
  }
  report.set("events", events).set("failed", failed).set("first_failure", reason).set("requests", requests);
  return report;
}

Result<Json> run_client_apart(const std::string& program, const ClientPlan& plan) {
  Command command;
  command.argv = {program, "--client", plan.url, "--streams", std::to_string(plan.streams)};
  if (!plan.keep_events) command.argv.emplace_back("--no-events");
  BK_ASSIGN(const Captured ran, run_captured(command, 2 * kRunLimit));
  if (!ran.exit.ok()) return fail(Errc::kEnvironment, "a client process failed: " + ran.err, plan.url);
  BK_ASSIGN(Json report, parse_json(ran.out));
  if (report["failed"].as_int().value_or(0) != 0) {
    return fail(Errc::kFailed,
                fmt::format("{} of {} streams failed, first: {}", *report["failed"].as_int(), plan.streams,
                            report["first_failure"].as_string().value_or("")),
                plan.url);
  }
  return report;
}

}  // namespace bk::perf
