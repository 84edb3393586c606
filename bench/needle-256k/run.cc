#include "run.h"

#include <fmt/format.h>

#include <ostream>

#include "leg/needle_256k.h"
#include "report/format.h"
#include "tool/gate.h"

namespace bk::needle_256k {
namespace {

constexpr const char* kName = "needle-256k";

struct Options {
  cli::CommonFlags common;
  std::int64_t context = 256'000;
  std::int64_t max_tokens = 120;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.seed = 7;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kSeed, Common::kDb, Common::kFormat,
                              Common::kOut, Common::kDryRun, Common::kQuiet});
  app.description(
      "Plants three facts at 25, 50 and 75 % of one long document, asks for each, then for all three in one reply, and "
      "scores the answers by value. "
      "Exit code 0 when all four answers are right, 1 when one is wrong, 4 when one is missing (a reply cut by length, "
      "a failed request), 3 when every request failed.");
  app.option("--context", options.context, "prompt tokens of the document with one question")
      .range(128, 100'000'000)
      .value("N");
  app.option("--max-tokens", options.max_tokens, "most tokens of a single answer; the long one may have twice as many")
      .range(1, 100'000)
      .value("N");
  app.example("needle-256k --base-url http://127.0.0.1:8000", "four questions on 256,000 tokens");
  app.example("needle-256k --context 32768 --json", "a shorter document, every question with its answer");
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("context_tokens", options.context).set("seed", std::to_string(options.common.seed));
  return json.set("max_tokens", options.max_tokens);
}

report::Records records_of(const leg::NeedleOutcome& outcome) {
  report::Records records;
  for (const char* key : {"form", "depth_percent", "verdict", "expected", "answer", "reason"}) {
    report::Column column;
    column.key = key;
    column.align = report::Align::kLeft;
    records.columns.push_back(std::move(column));
  }
  for (const Json& question : outcome.gate.questions.items()) {
    std::vector<Json> cells;
    for (const report::Column& column : records.columns) {
      const Json& cell = question[column.key];
      cells.push_back(cell.is_array() ? Json(cell.dump()) : cell);
    }
    records.rows.push_back(std::move(cells));
  }
  return records;
}

void print(const leg::NeedleOutcome& outcome, Json head, report::Format format, std::ostream& out) {
  report::Records records = records_of(outcome);
  if (format == report::Format::kTable) {
    if (!outcome.note.empty()) out << "nothing was asked: " << outcome.note << '\n';
    if (!records.rows.empty()) out << report::render(records, format);
    const std::string prompt = outcome.prompt_tokens ? fmt::format(", {} prompt tokens", *outcome.prompt_tokens) : "";
    out << "=> " << outcome.gate.detail << prompt << '\n';
    return;
  }
  records.meta = head.set("prompt_tokens", outcome.prompt_tokens);
  out << report::render(records, format);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Asks a running server for facts planted deep in one long document");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  leg::NeedleOutcome outcome;
  tool::Bench bench;
  bench.program = kName;
  bench.leg = "needle";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) -> Status {
    leg::NeedlePlan plan;
    plan.context_tokens = options.context;
    plan.seed = options.common.seed;
    plan.max_tokens = static_cast<int>(options.max_tokens);
    plan.context_limit = server.model.context_tokens;
    plan.stopped = stopped;
    BK_ASSIGN(outcome, leg::run_needle_256k(*server.transport, server.endpoint, plan, sink));
    return {};
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) {
    print(outcome, tool::gate_head(bench, server, keep, outcome.gate), format, out);
  };
  return tool::run_gate(bench, options.common, streams, args);
}

}  // namespace bk::needle_256k
