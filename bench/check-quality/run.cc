#include "run.h"

#include <ostream>
#include <utility>

#include "leg/quality.h"
#include "rows.h"
#include "tool/gate.h"

namespace bk::check_quality {
namespace {

constexpr const char* kName = "check-quality";

struct Options {
  cli::CommonFlags common;
  std::vector<std::int64_t> contexts = {2048, 32768, 131072};
  std::int64_t max_tokens = 120;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.seed = 7;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kSeed, Common::kDb, Common::kFormat,
                              Common::kOut, Common::kDryRun, Common::kQuiet});
  app.description(
      "Plants three facts at 25, 50 and 75 % of a document of each size, asks for each, and scores the answers by "
      "value. "
      "Exit code 0 when every answer is right, 1 when one is wrong, 4 when one is missing (a reply cut by length, a "
      "failed request), 3 when every request failed.");
  app.option(
         "--contexts",
         [&options](const std::string& text) -> Status {
           BK_ASSIGN(options.contexts, tool::parse_token_list(text, "--contexts"));
           return {};
         },
         "prompt sizes in tokens; K is 1024 (2K,32K,128K)")
      .value("LIST");
  app.option("--max-tokens", options.max_tokens, "most tokens of a reply").range(1, 100'000).value("N");
  app.example("check-quality --base-url http://127.0.0.1:8000 --contexts 2K", "three questions on one short document");
}

leg::QualityPlan plan_of(const Options& options, const tool::Server& server) {
  leg::QualityPlan plan;
  plan.contexts = options.contexts;
  plan.seed = options.common.seed;
  plan.max_tokens = static_cast<int>(options.max_tokens);
  plan.context_limit = server.model.context_tokens;
  return plan;
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("contexts", options.contexts).set("seed", std::to_string(options.common.seed));
  return json.set("max_tokens", options.max_tokens);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Asks a running server for facts planted at depth, and says whether it found them");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  leg::QualityOutcome outcome;
  tool::Bench bench;
  bench.program = kName;
  bench.leg = "quality";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) -> Status {
    leg::QualityPlan plan = plan_of(options, server);
    plan.stopped = stopped;
    BK_ASSIGN(outcome, leg::run_quality(*server.transport, server.endpoint, plan, sink));
    return {};
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) {
    if (format == report::Format::kTable) {
      out << to_text(outcome);
      return;
    }
    report::Records records = to_records(outcome);
    records.meta = tool::gate_head(bench, server, keep, outcome.gate);
    out << report::render(records, format);
  };
  return tool::run_gate(bench, options.common, streams, args);
}

}  // namespace bk::check_quality
