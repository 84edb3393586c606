#include "run.h"

#include <ostream>

#include "leg/decode.h"
#include "records.h"
#include "tool/request_json.h"
#include "tool/session.h"

namespace bk {
namespace {

struct Options {
  cli::CommonFlags common;
  std::vector<std::int64_t> concurrency = {1, 2, 4};
  std::int64_t tokens = 768;
  double temperature = 0.95;
  bool ignore_eos = false;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.reps = 6;
  options.common.seed = 0;
  options.common.add_to(
      app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kReps, Common::kWarmup,
            Common::kDb, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  app.section("MEASUREMENT");
  app.option("-C,--concurrency", options.concurrency, "streams at once, each value a cell of its own")
      .separated_by(',')
      .range(1, 10000)
      .value("LIST");
  app.option("--tokens", options.tokens, "most tokens of a reply").range(2, 1'000'000).value("N");
  app.option("--temperature", options.temperature, "sampling temperature").range(0, 5).value("T");
  app.flag("--ignore-eos", options.ignore_eos, "ask for exactly --tokens; a shorter reply then counts as failed");
  app.example("bench-dec --base-url http://127.0.0.1:8000", "C = 1, 2, 4, six repetitions of 768 tokens each");
  app.example("bench-dec -C 1 --reps 3 --tokens 128 --json --out dec.json", "a short run, kept as JSON");
}

leg::DecodePlan plan_of(const Options& options) {
  leg::DecodePlan plan;
  plan.concurrency.assign(options.concurrency.begin(), options.concurrency.end());
  plan.reps = static_cast<int>(options.common.reps);
  plan.warmup = static_cast<int>(options.common.warmup);
  plan.max_tokens = static_cast<int>(options.tokens);
  plan.temperature = options.temperature;
  plan.ignore_eos = options.ignore_eos;
  plan.seed = options.common.seed;
  return plan;
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("concurrency", options.concurrency).set("reps", options.common.reps).set("warmup", options.common.warmup);
  json.set("max_tokens", options.tokens).set("temperature", options.temperature);
  json.set("ignore_eos", options.ignore_eos).set("seed", std::to_string(options.common.seed));
  return json;
}

void print(const std::vector<load::Sample>& samples, const tool::Server& server, report::Format format,
           std::ostream& out) {
  report::Records records = sample_records(samples);
  report::Records summary = summary_records(samples);
  if (format == report::Format::kTable || format == report::Format::kMarkdown) {
    out << report::render(records, format) << '\n' << report::render(summary, format);
    return;
  }
  records.meta = tool::output_head("bench-dec");
  records.meta.set("endpoint", server.endpoint.base_url).set("model", server.endpoint.model);
  const auto as_json = parse_json(report::render(summary, report::Format::kJson));
  if (as_json) records.meta.set("summary", (*as_json)["rows"]);
  out << report::render(records, format);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("bench-dec", "Measures decode speed and draft acceptance of a running server");
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
  leg::DecodePlan plan = plan_of(options);
  plan.stopped = [&] { return interrupts.interrupted(); };
  const Status done = tool::record_leg(
      {"bench-dec", "decode", plan_json(options), options.common.db, options.common.seed, args}, server, streams, keep,
      [&](leg::Sink& sink) { return leg::run_decode(*server.transport, server.endpoint, plan, sink); });
  if (done || !keep.samples.empty()) print(keep.samples, server, format, output.stream());
  BK_TRY(output.close());
  BK_TRY(done);
  return tool::outcome_of(keep.samples);
}

}  // namespace bk
