#include "run.h"

#include <ostream>

#include "leg/prefill_decode.h"
#include "tool/bench.h"

namespace bk::bench_tp4 {
namespace {

using report::Align;
using report::Column;

constexpr const char* kNotComparable = "not for comparison";

struct Options {
  cli::CommonFlags common;
  std::int64_t prefill_tokens = 61440;
  std::int64_t tokens = 800;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.reps = 1;
  options.common.seed = 0;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kReps,
                              Common::kDb, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  app.section("MEASUREMENT");
  app.option("--prefill-tokens", options.prefill_tokens, "length of the cold prompt").range(32, 10'000'000).value("N");
  app.option("--tokens", options.tokens, "most tokens of the short decode").range(2, 1'000'000).value("N");
  app.description(
      "A short decode and a long cold prefill. Compare the prefill alone: a single short decode swings by tens of "
      "percent with draft acceptance, and its row says so.");
  app.example("bench-tp4 --base-url http://127.0.0.1:8000", "800 tokens of decode, then a prefill of 60K");
  app.example("bench-tp4 --prefill-tokens 4096 --tokens 64 --json", "a short run as JSON");
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("prefill_tokens", options.prefill_tokens).set("decode_tokens", options.tokens);
  return json.set("reps", options.common.reps).set("seed", std::to_string(options.common.seed));
}

report::Records records_of(const std::vector<load::Sample>& samples) {
  report::Records records;
  records.columns = {Column{"part", "part", "", Align::kLeft, 4},
                     Column{"rep", "rep", "", Align::kRight, 6},
                     Column{"prompt_tokens", "prompt", "tok", Align::kRight, 9},
                     Column{"cached_tokens", "cached", "tok", Align::kRight, 9},
                     Column{"completion_tokens", "tokens", "", Align::kRight, 9},
                     Column{"ttft_ms", "TTFT", "ms", Align::kRight, 4},
                     Column{"prefill_tok_s", "prefill", "tok/s", Align::kRight, 4},
                     Column{"decode_tok_s", "decode", "tok/s", Align::kRight, 4},
                     Column{"e2e_tok_s", "end to end", "tok/s", Align::kRight, 4},
                     Column{"comparable", "comparable", "", Align::kLeft, 4},
                     Column{"note", "", "", Align::kLeft, 4}};
  for (const load::Sample& sample : samples) {
    const stream::RequestRecord& record = sample.requests.front();
    const bool prefill = sample.cell == "prefill";
    std::string note = tool::note_of(sample, {prefill ? "prefill_tok_s" : "decode_tok_s"});
    if (!prefill) note = note.empty() ? kNotComparable : std::string(kNotComparable) + ", " + note;
    const auto decode_only = [&](const char* metric) {
      return prefill ? Json() : Json(tool::metric_of(sample, metric));
    };
    records.rows.push_back(
        {sample.cell, sample.index + 1, record.usage ? Json(record.usage->prompt_tokens) : Json(),
         record.usage ? Json(record.usage->cached_tokens) : Json(), record.completion_tokens,
         tool::metric_of(sample, "ttft_ms"), prefill ? Json(tool::metric_of(sample, "prefill_tok_s")) : Json(),
         decode_only("decode_tok_s"), decode_only("e2e_tok_s"), prefill, note.empty() ? Json() : Json(note)});
  }
  return records;
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("bench-tp4", "Measures one long prefill and one short decode of a running server");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  tool::Bench bench;
  bench.program = "bench-tp4";
  bench.leg = "prefill_decode";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) {
    leg::PrefillDecodePlan plan;
    plan.prefill_tokens = options.prefill_tokens;
    plan.decode_tokens = static_cast<int>(options.tokens);
    plan.reps = static_cast<int>(options.common.reps);
    plan.seed = options.common.seed;
    plan.context_limit = server.model.context_tokens;
    plan.stopped = stopped;
    return leg::run_prefill_decode(*server.transport, server.endpoint, plan, sink);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) {
    report::Records records = records_of(keep.samples);
    records.meta = tool::bench_head(bench, server, keep);
    out << report::render(records, format);
  };
  return tool::run_bench(bench, options.common, streams, args);
}

}  // namespace bk::bench_tp4
