#include "run.h"

#include <ostream>
#include <utility>

#include "base/text.h"
#include "leg/quality.h"
#include "rows.h"
#include "tool/gate_exit.h"
#include "tool/session.h"

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
           BK_ASSIGN(options.contexts, parse_contexts(text));
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

Json head_of(const leg::QualityOutcome& outcome, const tool::Server& server, const Options& options) {
  Json head = tool::output_head(kName);
  head.set("endpoint", server.endpoint.base_url).set("model", server.endpoint.model).set("plan", plan_json(options));
  head.set("verdict", leg::to_string(outcome.gate.verdict)).set("detail", outcome.gate.detail);
  head.set("passed", outcome.gate.passed).set("asked", outcome.gate.asked);
  return head.set("requests_failed", outcome.requests_failed).set("questions", outcome.gate.questions);
}

}  // namespace

Result<std::vector<std::int64_t>> parse_contexts(const std::string& text) {
  std::vector<std::int64_t> contexts;
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    const bool kilo = !part.empty() && (part.back() == 'K' || part.back() == 'k');
    const auto number = parse_int(kilo ? part.substr(0, part.size() - 1) : part);
    if (!number || *number < 1 || *number > 100'000'000) {
      return fail(Errc::kUsage, "a context is a number of tokens such as 2048 or 2K",
                  "--contexts " + std::string(part));
    }
    contexts.push_back(kilo ? *number * 1024 : *number);
  }
  return contexts;
}

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Asks a running server for facts planted at depth, and says whether it found them");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_ASSIGN(const report::Format format, report::parse_format(options.common.format));
  BK_ASSIGN(const cli::Connection connection, cli::read_connection(options.common.connection, streams));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  if (options.common.dry_run) {
    output.stream() << plan_json(options).dump(2) << '\n';
    BK_TRY(output.close());
    return cli::ExitCode::kDone;
  }

  const cli::InterruptGuard interrupts;
  BK_ASSIGN(const tool::Server server, tool::reach(connection));
  tool::KeepingSink keep(streams, options.common.quiet);
  leg::QualityPlan plan = plan_of(options, server);
  plan.stopped = [&] { return interrupts.interrupted(); };
  leg::QualityOutcome outcome;
  BK_TRY(tool::record_leg({kName, "quality", plan_json(options), options.common.db, options.common.seed, args}, server,
                          streams, keep, [&](leg::Sink& sink) -> Status {
                            BK_ASSIGN(outcome, leg::run_quality(*server.transport, server.endpoint, plan, sink));
                            return {};
                          }));
  if (format == report::Format::kTable) {
    output.stream() << to_text(outcome);
  } else {
    report::Records records = to_records(outcome);
    records.meta = head_of(outcome, server, options);
    output.stream() << report::render(records, format);
  }
  BK_TRY(output.close());
  return tool::gate_exit(outcome.gate, outcome.requests_failed);
}

}  // namespace bk::check_quality
