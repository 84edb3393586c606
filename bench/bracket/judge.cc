#include "judge.h"

#include <fmt/ostream.h>

#include "base/file.h"
#include "base/text.h"
#include "base/version.h"
#include "bracket/recorded.h"
#include "cli/format.h"
#include "cli/output.h"
#include "judged_text.h"

namespace bk::bracket_tool {
namespace {

std::vector<Judged> judge_all(const bracket::Recorded& recorded, double alpha, double band) {
  std::vector<stats::Declared> declared;
  for (const auto& m : recorded.metrics) {
    stats::Rules rules;
    rules.better = m.better;
    rules.alpha = alpha;
    rules.band = band;
    declared.push_back({m.boots, rules});
  }
  std::vector<stats::Assessment> assessed = stats::assess_all(declared);
  std::vector<Judged> out;
  for (std::size_t i = 0; i < assessed.size(); ++i) {
    const auto& m = recorded.metrics[i];
    out.push_back({m.metric, m.cell, m.unit, m.better, m.boots, std::move(assessed[i]),
                   stats::historical_rule(m.boots, m.better)});
  }
  return out;
}

std::vector<std::string> notes_of(const bracket::Recorded& recorded) {
  std::vector<std::string> notes;
  for (const auto& m : recorded.metrics) {
    const std::string name = m.cell.empty() ? m.metric : m.metric + " " + m.cell;
    if (!m.converted_from.empty()) {
      notes.push_back(fmt::format("{}: values in {} were converted to {}", name, join(m.converted_from, ", "), m.unit));
    }
    if (m.without_value > 0)
      notes.push_back(fmt::format("{}: {} lines without a value are left out", name, m.without_value));
  }
  return notes;
}

Json document(const std::string& file, const bracket::Recorded& recorded, const std::vector<Judged>& judged) {
  Json metrics = Json::array(), unmatched = Json::array();
  for (const Judged& j : judged) metrics.push(to_json(j));
  for (const auto& u : recorded.unmatched) {
    unmatched.push(Json::object()
                       .set("metric", u.metric)
                       .set("cell", u.cell.empty() ? Json() : Json(u.cell))
                       .set("missing_in", to_string(u.missing_in)));
  }
  Json doc = Json::object();
  doc.set("schema_version", 1).set("tool", "bracket judge").set("version", version()).set("commit", commit());
  doc.set("file", file).set("metrics", std::move(metrics)).set("unmatched", std::move(unmatched));
  doc.set("notes", notes_of(recorded));
  return doc;
}

void print_table(std::ostream& out, const bracket::Recorded& recorded, const std::vector<Judged>& judged) {
  bool first = true;
  for (const Judged& j : judged) {
    if (!first) out << '\n';
    print_judged(out, j);
    first = false;
  }
  for (const auto& u : recorded.unmatched) {
    fmt::print(out, "{}not compared: {}{} is missing in {}\n", first ? "" : "\n", u.metric,
               u.cell.empty() ? "" : " " + u.cell, to_string(u.missing_in));
    first = true;
  }
  for (const std::string& note : notes_of(recorded)) fmt::print(out, "note: {}\n", note);
}

/// A regression outweighs an open question, and that outweighs an answer.
cli::ExitCode exit_code(const std::vector<Judged>& judged) {
  auto code = judged.empty() ? cli::ExitCode::kInconclusive : cli::ExitCode::kDone;
  for (const Judged& j : judged) {
    if (j.assessment.state == stats::State::kWorse) return cli::ExitCode::kFailed;
    if (j.assessment.state == stats::State::kInconclusive) code = cli::ExitCode::kInconclusive;
  }
  return code;
}

}  // namespace

void JudgeCommand::register_on(cli::App& app) {
  app.description(
      "Reads one JSON object a line: {\"boot\": 0, \"arm\": \"base\", \"metric\": \"tpot_ms\", \"value\": 2.19, "
      "\"acceptance\": 0.31}. Boots are numbered in the order they ran; several lines of one boot are its samples. "
      "Optional members: acceptance (raw, 0 to 1), k_eff, cell, unit.\n\n"
      "Exit code: 0 better or same, 1 worse, 4 inconclusive.");
  app.example("bracket judge h200.jsonl", "assess every metric in the file");
  app.example("bracket judge --better lower power.jsonl", "a metric whose name does not say which way is better");
  app.positional("FILE", file_, "samples, one JSON object a line").required();
  app.option("--better", better_, "which way is better where the unit does not say")
      .choices({"lower", "higher"})
      .no_default();
  app.option("--alpha", alpha_, "false alarms that are accepted").range(0.0001, 0.5).value("P");
  app.option("--band", band_pct_, "effects within it do not matter, in percent").range(0, 100).value("PCT");
  flags_.add_to(app, {cli::Common::kOut});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<cli::ExitCode> JudgeCommand::run(cli::Streams& streams, const cli::Args&) {
  std::optional<stats::Better> better;
  if (!better_.empty()) better = better_ == "lower" ? stats::Better::kLower : stats::Better::kHigher;
  BK_ASSIGN(const std::string text, read_file(file_));
  auto recorded = bracket::parse_recorded(text, better);
  if (!recorded) {
    Error error = recorded.error();
    error.where = error.where.empty() ? file_ : file_ + ", " + error.where;
    return fail(std::move(error));
  }
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  const std::vector<Judged> judged = judge_all(*recorded, alpha_, band_pct_ / 100);
  if (flags_.format == "json") {
    output.stream() << document(file_, *recorded, judged).dump(2) << '\n';
  } else {
    print_table(output.stream(), *recorded, judged);
  }
  BK_TRY(output.close());
  return exit_code(judged);
}

}  // namespace bk::bracket_tool
