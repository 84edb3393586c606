#include "run.h"

#include <ostream>

#include "base/text.h"
#include "figures.h"
#include "rows.h"
#include "tool/bench.h"
#include "tool/prompts.h"

namespace bk::bench_conc {
namespace {

struct Options {
  cli::CommonFlags common;
  std::vector<std::int64_t> concurrency = {1, 2, 4, 8};
  std::vector<double> rates;
  std::string arrivals = "poisson";
  std::int64_t requests = 0, prompt_tokens = 0, tokens = 256;
  double temperature = 0.95, ramp_s = 0;
  bool stop_early = false;
  leg::ServiceLimits limits;
  load::PromptFile prompts;
};

Status parse_rates(const std::string& text, std::vector<double>* rates) {
  rates->clear();
  for (const std::string_view part : split(text, ',')) {
    const auto rate = parse_double(trim(part));
    if (!rate || *rate <= 0 || *rate > 1e6) {
      return fail(Errc::kUsage, "a rate is a positive number of requests per second", "--rate " + std::string(part));
    }
    rates->push_back(*rate);
  }
  return {};
}

void register_load_flags(cli::App& app, Options& options) {
  app.section("LOAD");
  app.option("-C,--concurrency", options.concurrency,
             "closed loop: streams that ask again as soon as they are answered")
      .separated_by(',')
      .range(1, 10000)
      .value("LIST");
  app.option(
         "--rate", [&options](const std::string& text) { return parse_rates(text, &options.rates); },
         "open loop instead: requests per second, whatever the server does")
      .value("LIST");
  app.option("--arrivals", options.arrivals, "how open-loop requests arrive").choices({"poisson", "constant"});
  app.option("-n,--requests", options.requests, "requests of each cell; 0: eight a stream, 32 in the open loop")
      .range(0, 1'000'000)
      .value("N");
  app.option("--ramp", options.ramp_s, "closed loop: seconds over which the streams begin, evenly spread")
      .range(0, 3600)
      .value("S");
  app.option("--prompt-tokens", options.prompt_tokens, "cold prompts of this size; 0: a short question")
      .range(0, 10'000'000)
      .value("N");
  tool::add_prompts_flag(app, options.prompts, "prompts of a size; each is asked behind a reference number");
  app.option("--tokens", options.tokens, "tokens asked for").range(1, 1'000'000).value("N");
  app.option("--temperature", options.temperature, "sampling temperature").range(0, 5).value("T");
  app.flag("--stop-early", options.stop_early,
           "let the model end its reply; without it exactly --tokens are asked for");
  app.option("--ttft-limit", options.limits.ttft_ms, "a good request has its first token within so many ms")
      .at_least(0)
      .value("MS");
  app.option("--tpot-limit", options.limits.tpot_ms, "a good request takes at most so many ms a token")
      .at_least(0)
      .value("MS");
}

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.seed = 0;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kWarmup,
                              Common::kDb, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  register_load_flags(app, options);
  app.description(
      "Latencies count from the scheduled start, so that waiting in the client is seen and no request is left out "
      "because an earlier one was slow. A percentile with fewer than five observations in its tail is marked with *. "
      "The cells of one sweep share boot, caches and drift: they are correlated, and no basis for a verdict.");
  app.example("bench-conc --base-url http://127.0.0.1:8000 -C 1,4,16", "a closed loop at three depths");
  app.example("bench-conc --rate 2,4 -n 60 --ttft-limit 500 --tpot-limit 30 --json",
              "Poisson arrivals, and the requests per second that keep both limits");
}

leg::ConcurrencyPlan plan_of(const Options& options) {
  leg::ConcurrencyPlan plan;
  plan.concurrency.assign(options.concurrency.begin(), options.concurrency.end());
  plan.rates = options.rates;
  plan.arrivals = options.arrivals == "constant" ? leg::Arrivals::kConstant : leg::Arrivals::kPoisson;
  plan.requests = static_cast<int>(options.requests);
  plan.warmup = static_cast<int>(options.common.warmup);
  plan.ramp = from_s(options.ramp_s);
  plan.prompt_tokens = static_cast<int>(options.prompt_tokens);
  plan.prompts = options.prompts.prompts;
  plan.max_tokens = static_cast<int>(options.tokens);
  plan.temperature = options.temperature;
  plan.ignore_eos = !options.stop_early;
  plan.limits = options.limits;
  plan.seed = options.common.seed;
  return plan;
}

Json plan_json(const Options& options) {
  const bool open = !options.rates.empty();
  Json json = Json::object();
  json.set("loop", open ? "open" : "closed");
  json.set("concurrency", open ? Json() : Json(options.concurrency));
  json.set("rates_per_s", open ? Json(options.rates) : Json());
  json.set("arrivals", open ? Json(options.arrivals) : Json());
  json.set("requests", options.requests).set("warmup", options.common.warmup).set("ramp_s", options.ramp_s);
  json.set("prompt_tokens", options.prompt_tokens).set("max_tokens", options.tokens);
  json.set("prompts", options.prompts.empty() ? Json() : Json(options.prompts.content().hash()));
  json.set("temperature", options.temperature).set("ignore_eos", !options.stop_early);
  json.set("ttft_limit_ms", options.limits.ttft_ms).set("tpot_limit_ms", options.limits.tpot_ms);
  return json.set("seed", std::to_string(options.common.seed));
}

void print(const tool::Bench& bench, const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
           std::ostream& out) {
  std::vector<CellFigures> cells;
  for (const load::Sample& sample : keep.samples) {
    if (!sample.warmup) cells.push_back(figures_of(sample));
  }
  report::Records records = rows_of(cells, format);
  records.meta = tool::bench_head(bench, server, keep);
  records.meta.set("correlated", cells.size() > 1);
  out << report::render(records, format);
  if (format != report::Format::kTable) return;
  out << "\n* fewer than five observations in the tail. Latencies count from the scheduled start.\n";
  if (cells.size() > 1) out << "The rows of one sweep are correlated: compare boots, not rows.\n";
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("bench-conc", "Measures a running server under load: rates, latencies and goodput");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  tool::Bench bench;
  bench.program = "bench-conc";
  bench.leg = "concurrency";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) {
    leg::ConcurrencyPlan plan = plan_of(options);
    plan.stopped = stopped;
    return leg::run_concurrency(*server.transport, server.endpoint, plan, sink);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) { print(bench, keep, server, format, out); };
  return tool::run_bench(bench, options.common, streams, args);
}

}  // namespace bk::bench_conc
