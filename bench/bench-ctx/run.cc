#include "run.h"

#include <map>
#include <ostream>

#include "leg/context.h"
#include "stats/summary.h"
#include "tool/bench.h"

namespace bk::bench_ctx {
namespace {

using report::Align;
using report::Column;

struct Options {
  cli::CommonFlags common;
  std::vector<std::int64_t> contexts = {2048, 32768, 131072};
  std::int64_t tokens = 256;
  bool stop_early = false;
};

constexpr const char* kMetrics[] = {"ttft_ms", "prefill_tok_s", "decode_tok_s", "tpot_ms"};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.reps = 3;
  options.common.seed = 0;
  options.common.add_to(
      app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kReps, Common::kWarmup,
            Common::kDb, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  app.section("MEASUREMENT");
  app.option(
         "--contexts",
         [&options](const std::string& text) -> Status {
           BK_ASSIGN(options.contexts, tool::parse_token_list(text, "--contexts"));
           return {};
         },
         "prompt sizes in tokens, chat template included; K is 1024 (2K,32K,128K)")
      .value("LIST");
  app.option("--tokens", options.tokens, "tokens asked for").range(2, 1'000'000).value("N");
  app.flag("--stop-early", options.stop_early,
           "let the model end its reply; without it exactly --tokens are asked for");
  app.description(
      "Every prompt is cold by construction: a nonce stands in its first block. The cached tokens are read back all "
      "the "
      "same, and a sample that was answered from the prefix cache shows no figures. A seed that is given makes the "
      "same "
      "prompts again, which a running server may have cached.");
  app.example("bench-ctx --base-url http://127.0.0.1:8000", "2K, 32K and 128K, three repetitions each");
  app.example("bench-ctx --contexts 2K,8K --reps 1 --json", "a short run as JSON");
}

leg::ContextPlan plan_of(const Options& options) {
  leg::ContextPlan plan;
  plan.contexts = options.contexts;
  plan.reps = static_cast<int>(options.common.reps);
  plan.warmup = static_cast<int>(options.common.warmup);
  plan.max_tokens = static_cast<int>(options.tokens);
  plan.ignore_eos = !options.stop_early;
  plan.seed = options.common.seed;
  return plan;
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("contexts", options.contexts).set("reps", options.common.reps).set("warmup", options.common.warmup);
  json.set("max_tokens", options.tokens).set("ignore_eos", !options.stop_early);
  return json.set("seed", std::to_string(options.common.seed));
}

report::Records records_of(const std::vector<load::Sample>& samples) {
  report::Records records;
  records.columns = {Column{"context", "context", "", Align::kLeft, 6},
                     Column{"rep", "rep", "", Align::kRight, 6},
                     Column{"prompt_tokens", "prompt", "tok", Align::kRight, 9},
                     Column{"cached_tokens", "cached", "tok", Align::kRight, 9},
                     Column{"completion_tokens", "tokens", "", Align::kRight, 9},
                     Column{"ttft_ms", "TTFT", "ms", Align::kRight, 4},
                     Column{"prefill_tok_s", "prefill", "tok/s", Align::kRight, 4},
                     Column{"decode_tok_s", "decode", "tok/s", Align::kRight, 4},
                     Column{"tpot_ms", "TPOT", "ms", Align::kRight, 4},
                     Column{"warm", "warm", "", Align::kLeft, 4},
                     Column{"note", "", "", Align::kLeft, 4}};
  for (const load::Sample& sample : samples) {
    if (sample.warmup) continue;
    const stream::RequestRecord& record = sample.requests.front();
    std::vector<Json> row = {sample.cell, sample.index + 1, record.usage ? Json(record.usage->prompt_tokens) : Json(),
                             record.usage ? Json(record.usage->cached_tokens) : Json(), record.completion_tokens};
    for (const char* metric : kMetrics) row.emplace_back(tool::metric_of(sample, metric));
    const std::string note = tool::note_of(sample, {"prefill_tok_s", "decode_tok_s"});
    row.emplace_back(tool::metric_of(sample, "cached_tokens").value_or(0) > 0);
    row.push_back(note.empty() ? Json() : Json(note));
    records.rows.push_back(std::move(row));
  }
  return records;
}

/// One row a context: medians over its cold samples.
report::Records summary_of(const std::vector<load::Sample>& samples) {
  report::Records records;
  records.columns = {Column{"context", "context", "", Align::kLeft, 6},
                     Column{"n", "n", "", Align::kRight, 6},
                     Column{"refused", "refused", "", Align::kRight, 6},
                     Column{"ttft_ms", "TTFT", "ms", Align::kRight, 4},
                     Column{"prefill_tok_s", "prefill", "tok/s", Align::kRight, 4},
                     Column{"decode_tok_s", "decode", "tok/s", Align::kRight, 4},
                     Column{"tpot_ms", "TPOT", "ms", Align::kRight, 4}};
  std::vector<std::string> cells;
  std::map<std::string, std::map<std::string, std::vector<std::optional<double>>>> values;
  for (const load::Sample& sample : samples) {
    if (sample.warmup) continue;
    if (values.count(sample.cell) == 0) cells.push_back(sample.cell);
    for (const char* metric : kMetrics) values[sample.cell][metric].push_back(tool::metric_of(sample, metric));
  }
  for (const std::string& cell : cells) {
    auto& of = values[cell];
    const stats::Summary first = stats::summarize(of["ttft_ms"]);
    std::vector<Json> row = {cell, first.n, first.excluded};
    for (const char* metric : kMetrics) row.emplace_back(stats::summarize(of[metric]).median);
    records.rows.push_back(std::move(row));
  }
  return records;
}

void print(const tool::Bench& bench, const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
           std::ostream& out) {
  report::Records records = records_of(keep.samples);
  const report::Records summary = summary_of(keep.samples);
  if (format == report::Format::kTable || format == report::Format::kMarkdown) {
    out << report::render(records, format) << "\nmedians of the cold samples\n" << report::render(summary, format);
    return;
  }
  records.meta = tool::bench_head(bench, server, keep);
  records.meta.set("summary", tool::rows_json(summary));
  out << report::render(records, format);
}

Result<cli::ExitCode> outcome(const std::vector<load::Sample>& samples) {
  BK_ASSIGN(const cli::ExitCode code, tool::outcome_of(samples));
  for (const load::Sample& sample : samples) {
    if (!sample.warmup && sample.ok() && tool::metric_of(sample, "ttft_ms")) return code;
  }
  return fail(Errc::kVoid, "every prompt was answered from the prefix cache: measure again without --seed");
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("bench-ctx", "Measures TTFT and decode speed, apart, at several lengths of context");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  tool::Bench bench;
  bench.program = "bench-ctx";
  bench.leg = "context";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) {
    leg::ContextPlan plan = plan_of(options);
    plan.context_limit = server.model.context_tokens;
    plan.stopped = stopped;
    return leg::run_context(*server.transport, server.endpoint, plan, sink);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) { print(bench, keep, server, format, out); };
  bench.outcome = [](const tool::KeepingSink& keep) { return outcome(keep.samples); };
  return tool::run_bench(bench, options.common, streams, args);
}

}  // namespace bk::bench_ctx
