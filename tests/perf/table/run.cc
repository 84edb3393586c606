#include "run.h"

#include <fmt/core.h>

#include <algorithm>
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
  bool grid = false, quick = false, no_events = false;
};

void register_flags(cli::App& app, Options& options) {
  app.description(
      "Runs sim-engine and clients of the same build on this machine and compares what the clients saw with what the "
      "engine did. Keep the machine quiet: the figures are its own.");
  app.option("--json", options.json_file, "also write the figures as one flat JSON object").value("FILE").no_default();
  app.flag("--grid", options.grid, "only how true the programs' figures are, against the engine's own record");
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
  const auto error = [](double value, const std::string& figure) {
    return figure.empty() ? std::string("-") : fmt::format("{:.3f} ({})", value, figure);
  };
  for (const GridRow& row : grid) {
    const GridErrors& e = row.errors;
    rows.push_back({row.program, row.knobs, std::to_string(e.figures), std::to_string(e.missing),
                    std::to_string(e.wrong), error(e.time_ms, e.worst_time), error(e.rate_pct, e.worst_rate),
                    std::to_string(row.tries), row.within() ? "yes" : "no"});
  }
  return report::table(
      {"program", "knobs", "figures", "missing", "wrong", "time error [ms]", "rate error [%]", "tries", "within"},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kRight, Align::kLeft},
      rows);
}

/// kGateFailed's code when a row breaks a bound: then a definition differs, or this machine cannot measure.
Result<cli::ExitCode> print_grid(const MeasurePlan& plan, cli::Streams& streams) {
  BK_ASSIGN(const std::vector<GridRow> grid, accuracy_grid(plan.bin, plan.quick, plan.progress));
  streams.out << fmt::format(
                     "largest errors against the engine's own record (bounds: {} ms, {} %; nearest of up to {} "
                     "tries)\n",
                     kTimeLimit_ms, kRateLimit_pct, kTries)
              << table_of(grid);
  const auto broken = std::count_if(grid.begin(), grid.end(), [](const GridRow& row) { return !row.within(); });
  streams.out << fmt::format("{} of {} rows within the bounds\n", grid.size() - static_cast<std::size_t>(broken),
                             grid.size());
  return broken == 0 || plan.quick ? cli::ExitCode::kDone : cli::ExitCode::kFailed;
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
  if (!options.grid) {
    BK_ASSIGN(const Json figures, measure(plan));
    streams.out << table_of(figures) << '\n';
    if (!options.json_file.empty()) BK_TRY(write_file_atomic(options.json_file, figures.dump(2) + "\n"));
  }
  return print_grid(plan, streams);
}

}  // namespace bk::perf
