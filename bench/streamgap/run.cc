#include "run.h"

#include <fmt/format.h>

#include <ostream>

#include "leg/streamgap.h"
#include "timeline.h"
#include "tool/bench.h"

namespace bk::streamgap {
namespace {

using report::Align;
using report::Column;

constexpr int kAsciiSlices = 64;
constexpr int kAsciiHeight = 8;
constexpr int kSvgSlices = 160;

struct Options {
  cli::CommonFlags common;
  std::int64_t tokens = 1500, ingest_tokens = 34000;
  double after_s = 6;
  std::string svg;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.seed = 0;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kDb,
                              Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  app.section("MEASUREMENT");
  app.option("--tokens", options.tokens, "tokens of the stream").range(2, 1'000'000).value("N");
  app.option("--ingest-tokens", options.ingest_tokens, "prompt tokens of the request that lands beside it")
      .range(32, 10'000'000)
      .value("N");
  app.option("--after", options.after_s, "seconds after the stream's start when it is sent").range(0, 3600).value("S");
  app.option("--svg", options.svg, "write the timeline as a picture too").value("FILE");
  app.description(
      "Streams one long answer and, after a while, sends a long cold prompt beside it: tokens per second and the gaps "
      "between events before, during and after. Exit code 4 when the prompt did not land within the stream.");
  app.example("streamgap --base-url http://127.0.0.1:8000 --svg gap.svg", "1500 tokens, and 34K of prefill after 6 s");
  app.example("streamgap --tokens 400 --ingest-tokens 4096 --after 0.3 --json", "a short run as JSON");
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("max_tokens", options.tokens).set("ingest_tokens", options.ingest_tokens);
  return json.set("ingest_after_s", options.after_s).set("seed", std::to_string(options.common.seed));
}

report::Records records_of(const leg::Disturbance& disturbance) {
  report::Records records;
  records.columns = {
      Column{"phase", "phase", "", Align::kLeft, 4},          Column{"seconds", "time", "s", Align::kRight, 4},
      Column{"events", "events", "", Align::kRight, 9},       Column{"tokens", "tokens", "", Align::kRight, 9},
      Column{"tok_s", "rate", "tok/s", Align::kRight, 4},     Column{"events_s", "events/s", "", Align::kRight, 4},
      Column{"gap_ms", "gap median", "ms", Align::kRight, 4}, Column{"gap_max_ms", "longest", "ms", Align::kRight, 4}};
  for (const leg::Phase& p : disturbance.phases) {
    const Json tokens = p.tokens.value ? Json(static_cast<std::int64_t>(*p.tokens.value)) : Json();
    records.rows.push_back({p.name, to_s(p.end - p.begin), p.events, tokens, p.tok_s.value, p.events_s.value,
                            p.gap_ms.value, p.gap_max_ms.value});
  }
  return records;
}

Json gaps_json(const leg::Disturbance& disturbance) {
  Json gaps = Json::array();
  for (const leg::Gap& gap : disturbance.longest) {
    Json one = Json::object();
    gaps.push(one.set("at_s", to_s(gap.begin)).set("gap_ms", to_ms(gap.length)).set("phase", gap.phase));
  }
  return gaps;
}

std::string gaps_text(const leg::Disturbance& disturbance) {
  std::string text = "longest gaps:";
  for (const leg::Gap& gap : disturbance.longest) {
    text += fmt::format(" {:.1f} ms at {:.2f} s ({}),", to_ms(gap.length), to_s(gap.begin), gap.phase);
  }
  text.back() = '\n';
  return text;
}

void print(const tool::Bench& bench, const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
           std::ostream& out) {
  const load::Sample& sample = keep.samples.front();
  const auto disturbance = leg::disturbance_of(sample.requests[0], sample.requests[1]);
  if (!disturbance) return;  // outcome() says why
  report::Records records = records_of(*disturbance);
  records.meta = tool::bench_head(bench, server, keep);
  records.meta.set("ingest_prompt_tokens",
                   sample.requests[1].usage ? Json(sample.requests[1].usage->prompt_tokens) : Json());
  records.meta.set("ingest_cached_tokens",
                   sample.requests[1].usage ? Json(sample.requests[1].usage->cached_tokens) : Json());
  records.meta.set("completion_tokens", sample.requests[0].completion_tokens);
  records.meta.set("longest_gaps", gaps_json(*disturbance));
  out << report::render(records, format);
  if (format != report::Format::kTable) return;
  out << gaps_text(*disturbance) << '\n'
      << ascii(timeline_of(sample.requests[0], *disturbance, kAsciiSlices), kAsciiHeight);
}

Result<cli::ExitCode> outcome(const tool::KeepingSink& keep, std::optional<cli::Output>& picture) {
  if (keep.samples.empty()) return fail(Errc::kVoid, "nothing was measured");
  const load::Sample& sample = keep.samples.front();
  BK_ASSIGN(const leg::Disturbance disturbance, leg::disturbance_of(sample.requests[0], sample.requests[1]));
  if (picture) {
    picture->stream() << svg(timeline_of(sample.requests[0], disturbance, kSvgSlices));
    BK_TRY(picture->close());
  }
  return cli::ExitCode::kDone;
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("streamgap", "Measures how smoothly a stream runs while another request's prefill lands");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  tool::Bench bench;
  bench.program = "streamgap";
  bench.leg = "streamgap";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) {
    leg::StreamgapPlan plan;
    plan.max_tokens = static_cast<int>(options.tokens);
    plan.ingest_tokens = options.ingest_tokens;
    plan.ingest_after = from_s(options.after_s);
    plan.seed = options.common.seed;
    plan.context_limit = server.model.context_tokens;
    plan.stopped = stopped;
    return leg::run_streamgap(*server.transport, server.endpoint, plan, sink);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) { print(bench, keep, server, format, out); };
  std::optional<cli::Output> picture;
  if (!options.svg.empty()) {
    BK_ASSIGN(picture, cli::Output::open(streams, options.svg));
  }
  bench.outcome = [&](const tool::KeepingSink& keep) { return outcome(keep, picture); };
  return tool::run_bench(bench, options.common, streams, args);
}

}  // namespace bk::streamgap
