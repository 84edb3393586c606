#include "run.h"

#include <fmt/core.h>

#include <filesystem>
#include <ostream>

#include "base/file.h"
#include "cli/app.h"
#include "client.h"
#include "grid.h"
#include "measure.h"
#include "report/table.h"

namespace bk::perf {
namespace {

/// A figure, what it is, and the bound that it is held to.
struct Row {
  const char* key;
  const char* what;
  const char* unit;
  const char* target;
};
constexpr Row kRows[] = {
    {"sse_events_per_core_s", "parser and chunk reader", "events/s per core", ">= 2000000"},
    {"e2e_events_per_core_s", "through the socket to the record", "events/s per core", ""},
    {"open_streams", "streams open at once", "", ">= 10000"},
    {"open_streams_rss_mb", "memory for them", "MB", "<= 400"},
    {"single_stream_rss_mb", "memory of bench-probe -n 1", "MB", "<= 25"},
    {"probe_start_ms", "bench-probe --help", "ms", "<= 20"},
};

/// A figure at each number of streams.
constexpr Row kPacedRows[] = {
    {"sent_events_per_s", "events that the engine sent", "1/s", "200 a stream"},
    {"cpu_s_per_1000_events", "client CPU", "s per 1000 events", "64: <= 0.020"},
    {"ttft_error_mean_ms", "TTFT error, mean", "ms", "64: <= 1"},
    {"rate_error_pct", "decode rate error, worst stream", "%", "<= 0.2"},
    {"event_error_p50_us", "event time error, median", "us", "64: <= 100"},
    {"event_error_p99_us", "event time error, p99", "us", "64: <= 1500"},
};

struct Options {
  std::string json_file, client_url;
  std::int64_t streams = 1;
  bool quick = false, no_events = false;
};

void register_flags(cli::App& app, Options& options) {
  app.description(
      "Runs sim-engine and clients of the same build on this machine and compares what the clients saw with what the "
      "engine did. Keep the machine quiet: the figures are its own.");
  app.option("--json", options.json_file, "also write the figures as one flat JSON object").value("FILE").no_default();
  app.flag("--quick", options.quick, "short runs that show that everything works");
  app.section("ONE CLIENT");
  app.option("--client", options.client_url, "run one client against URL and print what it saw as JSON")
      .value("URL")
      .no_default();
  app.option("--streams", options.streams, "its streams").range(1, 60'000).value("N");
  app.flag("--no-events", options.no_events, "leave the events' times out");
}

std::string shown(const Json& figure) {
  const auto value = figure.as_double();
  return value ? fmt::format("{:.5g}", *value) : "-";
}

std::string table_of(const Json& figures) {
  using report::Align;
  std::vector<std::vector<std::string>> rows, paced;
  for (const Row& row : kRows) rows.push_back({row.what, shown(figures[row.key]), row.unit, row.target});
  for (const Row& row : kPacedRows) {
    paced.push_back({row.what});
    for (const char* streams : {"1", "64", "1000"}) {
      paced.back().push_back(shown(figures[fmt::format("{}_{}", row.key, streams)]));
    }
    paced.back().insert(paced.back().end(), {row.unit, row.target});
  }
  return report::table({"figure", "value", "unit", "target"}, {Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft},
                       rows) +
         "\nstreams of 200 events/s each, one event a write\n" +
         report::table({"figure", "1", "64", "1000", "unit", "target"},
                       {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft}, paced);
}

std::string table_of(const std::vector<GridRow>& grid) {
  using report::Align;
  std::vector<std::vector<std::string>> rows;
  for (const GridRow& row : grid) {
    rows.push_back({row.program, row.knobs, std::to_string(row.requests), std::to_string(row.missing),
                    row.program == "bench-conc" ? "-" : fmt::format("{:.3f}", row.ttft_ms),
                    fmt::format("{:.3f}", row.rate_pct)});
  }
  return report::table({"program", "knobs", "requests", "no figure", "TTFT error [ms]", "rate error [%]"},
                       {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight}, rows);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("bk-perf", "Measures what measuring costs, and how true its times are");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  if (!options.client_url.empty()) {
    const Json seen = run_client({options.client_url, static_cast<int>(options.streams), !options.no_events});
    streams.out << seen.dump() << '\n';
    return cli::ExitCode::kDone;
  }
  std::error_code unread;
  MeasurePlan plan;
  plan.bin = std::filesystem::read_symlink("/proc/self/exe", unread).parent_path();
  plan.quick = options.quick;
  plan.progress = [&streams](const std::string& what) { streams.err << "bk-perf: " << what << std::endl; };
  BK_ASSIGN(const Json figures, measure(plan));
  streams.out << table_of(figures);
  BK_ASSIGN(const std::vector<GridRow> grid, accuracy_grid(plan.bin, plan.quick, plan.progress));
  streams.out << "\nlargest errors against the engine's own record (bounds: 1 ms, 0.5 %)\n" << table_of(grid);
  if (!options.json_file.empty()) BK_TRY(write_file_atomic(options.json_file, figures.dump(2) + "\n"));
  return cli::ExitCode::kDone;
}

}  // namespace bk::perf
