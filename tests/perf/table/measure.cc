#include "measure.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "client.h"
#include "reader.h"
#include "server.h"
#include "truth.h"

namespace bk::perf {
namespace {

constexpr double kEveryMs = 5;    // 200 events a second and stream
constexpr double kFirstMs = 200;  // as the peers were measured
constexpr const char* kFullPath = "/v1/chat/completions";
constexpr const char* kShortPath = "/v1/completions";

/// One pass over all figures.
class Measurement {
 public:
  explicit Measurement(const MeasurePlan& plan) : plan_(plan) {}

  Result<Json> run() {
    plan_.progress("start of bench-probe");
    BK_TRY(start_time());
    plan_.progress("memory of a single stream");
    BK_TRY(single_stream());
    plan_.progress("parser and chunk reader");
    figures_.set("sse_events_per_core_s", reader_events_per_core_s(plan_.quick ? 0.2 : 1.5));
    for (const auto& [streams, events] : {std::pair{1, 512}, std::pair{64, 512}, std::pair{1000, 128}}) {
      plan_.progress(fmt::format("{} streams of 200 events/s", streams));
      BK_TRY(paced_streams(streams, plan_.quick ? 64 : events));
    }
    plan_.progress("events through the socket as fast as they go");
    BK_TRY(throughput());
    plan_.progress("open streams");
    BK_TRY(open_streams());
    return figures_;
  }

 private:
  [[nodiscard]] std::string program(const char* name) const { return plan_.bin / name; }

  Status start_time() {
    std::vector<double> ms;
    for (int i = 0; i < (plan_.quick ? 5 : 25); ++i) {
      const Nanos start = monotonic_now();
      BK_ASSIGN(const Captured ran, run_captured({{program("bench-probe"), "--help"}, {}, {}, {}}, 10 * kSecond));
      if (!ran.exit.ok()) return fail(Errc::kEnvironment, "bench-probe --help failed", plan_.bin);
      ms.push_back(to_ms(monotonic_now() - start));
    }
    figures_.set("probe_start_ms", percentile(ms, 0.5));
    return {};
  }

  // bench-probe is the first large child that ends, so that the children's peak is its own.
  Status single_stream() {
    const TempDir dir;
    BK_ASSIGN(const auto server, Server::start(program("sim-engine"), stream_script("/none", 1, 1, 1)));
    const std::vector<std::string> argv = {
        program("bench-probe"),  "--base-url", server->url(), "-n", "1", "--warmup", "0", "--db",
        dir.path() / "probe.db", "--json"};
    BK_ASSIGN(const Captured ran, run_captured({argv, {}, {}, {}}, 60 * kSecond));
    if (!ran.exit.ok()) return fail(Errc::kEnvironment, "bench-probe failed: " + ran.err, server->url());
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    figures_.set("single_stream_rss_mb", static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
    return {};
  }

  /// CPU less that of a nearly empty run, and the truth of every time; keys end in the number of streams.
  Status paced_streams(int streams, int events) {
    const std::string script =
        stream_script(kFullPath, kFirstMs, kEveryMs, events) + stream_script(kShortPath, kFirstMs, kEveryMs, 2);
    BK_ASSIGN(const auto server, Server::start(program("sim-engine"), script));
    BK_ASSIGN(const Json empty, client(server->url() + kShortPath, streams, false));
    BK_ASSIGN(const Json full, client(server->url() + kFullPath, streams, true));
    const double cpu_s = full["cpu_s"].as_double().value_or(0) - empty["cpu_s"].as_double().value_or(0);
    const double more = full["events"].as_double().value_or(0) - empty["events"].as_double().value_or(0);
    BK_ASSIGN(const Json truth, server->truth());
    // Both runs name their requests alike: the later ones are the full run's, and the last of a name wins.
    BK_ASSIGN(const Errors errors, compare(full, truth));
    const auto set = [&](const char* key, double value) { figures_.set(fmt::format("{}_{}", key, streams), value); };
    set("cpu_s_per_1000_events", 1000 * cpu_s / more);
    set("ttft_error_mean_ms", errors.ttft_mean_ms);
    set("rate_error_pct", errors.rate_worst_pct);
    set("event_error_p50_us", errors.event_p50_us);
    set("event_error_p99_us", errors.event_p99_us);
    set("sent_events_per_s", errors.sent_per_s);
    return {};
  }

  Status throughput() {
    const int events = plan_.quick ? 1'280 : 12'800;
    const std::string script = flood_script(kFullPath, events, 64) + flood_script(kShortPath, 1, 1);
    BK_ASSIGN(const auto server, Server::start(program("sim-engine"), script));
    BK_ASSIGN(const Json empty, client(server->url() + kShortPath, 8, false));
    BK_ASSIGN(const Json full, client(server->url() + kFullPath, 8, false));
    const double cpu_s = full["cpu_s"].as_double().value_or(0) - empty["cpu_s"].as_double().value_or(0);
    const double more = full["events"].as_double().value_or(0) - empty["events"].as_double().value_or(0);
    figures_.set("e2e_events_per_core_s", more / cpu_s);
    return {};
  }

  // Each stream's first event comes only after all have been opened.
  Status open_streams() {
    const int streams = plan_.quick ? 1'000 : 10'000;
    BK_ASSIGN(const auto server,
              Server::start(program("sim-engine"), stream_script(kFullPath, plan_.quick ? 1500 : 20'000, 500, 3)));
    BK_ASSIGN(const Json report, client(server->chat_url(), streams, false));
    figures_.set("open_streams", report["open"]).set("open_streams_rss_mb", report["rss_mb"]);
    return {};
  }

  Result<Json> client(const std::string& url, int streams, bool keep_events) {
    return run_client_apart(program("bk-perf"), {url, streams, keep_events});
  }

  const MeasurePlan& plan_;
  Json figures_ = Json::object();
};

}  // namespace

Result<Json> measure(const MeasurePlan& plan) { return Measurement(plan).run(); }

}  // namespace bk::perf
