#include "run.h"

#include <ostream>

#include "acc_line.h"
#include "content_rows.h"
#include "leg/decode.h"
#include "records.h"
#include "tool/bench.h"
#include "tool/prompts.h"

namespace bk {
namespace {

struct Options {
  cli::CommonFlags common;
  std::vector<std::int64_t> concurrency = {1, 2, 4};
  std::int64_t tokens = 768;
  double temperature = 0.95;
  bool ignore_eos = false;
  std::vector<load::ContentShare> content;
  load::PromptFile prompts;
  load::ContentSet prompts_set;  ///< the same, as content
  double step_window_s = 2;
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
  app.option(
         "--content",
         [&options](const std::string& text) -> Status {
           BK_ASSIGN(options.content, load::parse_content(text));
           return {};
         },
         "content sets instead of the usual topics, short and long answers apart: prose, code, json, math, chat, "
         "korean, "
         "structured, or all; with weights, prose=2,code=1")
      .value("LIST");
  tool::add_prompts_flag(app, options.prompts, "the usual topics; each is asked behind a reference number");
  app.option("--step-window", options.step_window_s,
             "seconds between two readings of the engine's step counter while it decodes; 0: none")
      .range(0, 3600)
      .value("S");
  app.example("bench-dec --base-url http://127.0.0.1:8000", "C = 1, 2, 4, six repetitions of 768 tokens each");
  app.example("bench-dec -C 1 --reps 2 --tokens 64 --content code,korean=2",
              "two content sets, and their total with Korean counted twice");
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
  plan.content = options.content;
  plan.step_window = from_s(options.step_window_s);
  return plan;
}

Json content_json(const std::vector<load::ContentShare>& mix) {
  Json sets = Json::array();
  for (const load::ContentShare& share : mix) {
    Json one = Json::object();
    one.set("name", share.set->name).set("version", share.set->version).set("hash", share.set->hash());
    sets.push(one.set("weight", share.weight));
  }
  return sets;
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("concurrency", options.concurrency).set("reps", options.common.reps).set("warmup", options.common.warmup);
  json.set("max_tokens", options.tokens).set("temperature", options.temperature);
  json.set("ignore_eos", options.ignore_eos).set("seed", std::to_string(options.common.seed));
  return json.set("content", content_json(options.content)).set("step_window_s", options.step_window_s);
}

void print(const tool::Bench& bench, const Options& options, const tool::KeepingSink& keep, const tool::Server& server,
           report::Format format, std::ostream& out) {
  report::Records records = sample_records(keep.samples);
  const report::Records summary = summary_records(keep.samples);
  const report::Records content = content_records(keep.samples, options.content);
  const auto fit = acc_fit_of(keep.samples);
  if (format == report::Format::kTable || format == report::Format::kMarkdown) {
    out << report::render(records, format) << '\n' << report::render(summary, format) << '\n';
    if (!options.content.empty()) out << report::render(content, format) << '\n';
    out << acc_text(fit);
    return;
  }
  records.meta = tool::bench_head(bench, server, keep);
  records.meta.set("summary", tool::rows_json(summary));
  if (!options.content.empty()) records.meta.set("content", tool::rows_json(content));
  records.meta.set("acc_fit", acc_json(fit));
  out << report::render(records, format);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("bench-dec", "Measures decode speed and draft acceptance of a running server");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  if (!options.prompts.empty()) {
    if (!options.content.empty()) return fail(Errc::kUsage, "--prompts and --content are both given; keep one");
    options.prompts_set = options.prompts.content();
    options.content.push_back({&options.prompts_set, 1});
  }
  tool::Bench bench;
  bench.program = "bench-dec";
  bench.leg = "decode";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) {
    leg::DecodePlan plan = plan_of(options);
    plan.stopped = stopped;
    return leg::run_decode(*server.transport, server.endpoint, plan, sink);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) { print(bench, options, keep, server, format, out); };
  return tool::run_bench(bench, options.common, streams, args);
}

}  // namespace bk
