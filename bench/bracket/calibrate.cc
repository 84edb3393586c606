#include "calibrate.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "bracket/calibrate.h"
#include "calibrate_page.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "report/format.h"
#include "tool/session.h"

namespace bk::bracket_tool {
namespace {

constexpr int kFullBrackets = 20'000;

/// Three standard errors of a share near a bound, more than the full calibration's: what few brackets may be off by.
double slack(int brackets) {
  if (brackets >= kFullBrackets) return 0;
  const auto error = [](int n) { return 100 * std::sqrt(0.05 * 0.95 / n); };
  return 3 * (error(brackets) - error(kFullBrackets));
}

report::Records records_of(const std::vector<bracket::CellResult>& results) {
  using report::Align;
  report::Records records;
  records.columns = {{"cell", "", "", Align::kLeft},        {"judged_by", "", "", Align::kLeft},
                     {"purpose", "", "", Align::kLeft},     {"brackets", "", "", Align::kRight, 9},
                     {"significant_pct", "p < alpha", "%"}, {"called_pct", "better or worse", "%"},
                     {"better_pct", "better", "%"},         {"coverage_pct", "coverage", "%"}};
  records.columns.push_back({"best_kept_pct", "best kept", "%"});
  for (const auto& r : results) {
    if (r.brackets == 0) continue;
    const bool rule = r.cell.purpose != bracket::Purpose::kNaive;
    records.rows.push_back({r.cell.name, to_string(r.cell.judge), to_string(r.cell.purpose), r.brackets,
                            r.significant_pct(), rule ? Json(r.called_pct()) : Json(),
                            rule ? Json(r.better_pct()) : Json(), Json(r.coverage_pct()), r.best_kept_pct()});
  }
  return records;
}

cli::ExitCode held(const cli::Streams& streams, const bracket::CalibrationFigures& figures, int brackets) {
  const auto left = bracket::bounds_left(figures, slack(brackets));
  for (const std::string& sentence : left) fmt::print(streams.err, "calibrate: bound left: {}\n", sentence);
  return left.empty() ? cli::ExitCode::kDone : cli::ExitCode::kFailed;
}

}  // namespace

Result<cli::ExitCode> CalibrateCommand::render_former(cli::Streams& streams, report::Format format) const {
  if (format != report::Format::kMarkdown)
    return fail(Errc::kUsage, "--from renders a page: add --format md", "--from");
  BK_ASSIGN(const std::string text, read_file(from_));
  auto result = calibration_in(text);
  if (!result) {
    result.error().where = from_;
    return fail(result.error());
  }
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  output.stream() << calibration_page(*result);
  BK_TRY(output.close());
  return held(streams, figures_in(*result), static_cast<int>((*result)["brackets_per_cell"].as_int().value_or(0)));
}

void CalibrateCommand::register_on(cli::App& app) {
  app.description(
      "Judges simulated brackets whose truth is known, many in each cell, and counts: false alarms where there is no "
      "effect, how often the interval holds the truth, how often a real effect is called. Naive rules stand beside "
      "it. Nothing is booted and no server is asked.\n\n"
      "Exit code: 0 when every bound holds, 1 when one is left; standard error says which.");
  app.example("bracket calibrate", "the whole table, in minutes");
  app.example("bracket calibrate --brackets 2000 --only aba/", "a short look at some cells");
  app.example("bracket calibrate --only family/", "matrices and sweeps alone");
  app.example("bracket calibrate --from calibration.json --format md --out docs/calibration.md",
              "the page of the documentation from a run's --json");
  app.option("--brackets", brackets_, "simulated brackets in each cell").range(100, 10'000'000).value("N");
  app.option("--only", only_, "only cells whose name begins so").value("NAME").no_default();
  app.option("--threads", threads_, "threads; 0: one a core").range(0, 1024).value("N");
  app.option("--from", from_, "measure nothing: the page (--format md) of a former run's JSON, or of the ledger's rows")
      .value("FILE")
      .no_default();
  flags_.add_to(app, {cli::Common::kSeed, cli::Common::kFormat, cli::Common::kOut, cli::Common::kQuiet});
}

Result<cli::ExitCode> CalibrateCommand::run(cli::Streams& streams, const cli::Args&) {
  BK_ASSIGN(const report::Format format, report::parse_format(flags_.format));
  if (!from_.empty()) return render_former(streams, format);
  auto cells = bracket::calibration_cells();
  cells.erase(std::remove_if(cells.begin(), cells.end(), [&](const auto& c) { return c.name.rfind(only_, 0) != 0; }),
              cells.end());
  if (cells.empty()) return fail(Errc::kUsage, "no cell's name begins so; without --only all are listed", only_);
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  const int threads = threads_ > 0 ? threads_ : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const cli::InterruptGuard guard;
  const auto tell = [&](std::size_t done) {
    if (!flags_.quiet && (done % 16 == 0 || done == cells.size())) {
      fmt::print(streams.err, "calibrate: {} of {} cells\n", done, cells.size());
    }
  };
  const auto results =
      bracket::run_cells(cells, brackets_, flags_.seed, threads, tell, [&] { return guard.interrupted(); });
  if (guard.interrupted()) return fail(Errc::kInterrupted, "interrupted; no figure of a part is written");
  const bracket::CalibrationFigures figures = bracket::figures_of(results);
  report::Records records = records_of(results);
  records.meta = tool::output_head("bracket calibrate");
  records.meta.set("seed", fmt::format("{}", flags_.seed)).set("brackets_per_cell", brackets_);
  const Json flat = to_json(figures);
  for (const auto& [key, value] : flat.members()) records.meta.set(key, value);
  if (format == report::Format::kMarkdown) {
    BK_ASSIGN(const Json result, parse_json(report::render(records, report::Format::kJson)));
    output.stream() << calibration_page(result);
  } else {
    output.stream() << report::render(records, format);
  }
  BK_TRY(output.close());
  return held(streams, figures, brackets_);
}

}  // namespace bk::bracket_tool
