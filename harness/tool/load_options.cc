#include "tool/load_options.h"

#include <ostream>

#include "base/text.h"
#include "tool/load_figures.h"
#include "tool/load_rows.h"
#include "tool/prompts.h"

namespace bk::tool {
namespace {

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

void add_load_section(cli::App& app, LoadOptions& options) {
  app.section("LOAD");
  const cli::Option concurrency = app.option("-C,--concurrency", options.concurrency,
                                             "closed loop: streams that ask again as soon as they are answered")
                                      .separated_by(',')
                                      .range(1, 10000)
                                      .value("LIST");
  app.option(
         "--rate", [&options](const std::string& text) { return parse_rates(text, &options.rates); },
         "open loop instead: requests per second, whatever the server does")
      .value("LIST");
  const cli::Option arrivals =
      app.option("--arrivals", options.arrivals, "how open-loop requests arrive").choices({"poisson", "constant"});
  options.open_only = {{"--arrivals", arrivals}};
  app.option("-n,--requests", options.requests, "requests of each cell; 0: eight a stream, 32 in the open loop")
      .range(0, 1'000'000)
      .value("N");
  const cli::Option ramp =
      app.option("--ramp", options.ramp_s, "closed loop: seconds over which the streams begin, evenly spread")
          .range(0, 3600)
          .value("S");
  options.closed_only = {{"-C", concurrency}, {"--ramp", ramp}};
  app.option("--prompt-tokens", options.prompt_tokens, "cold prompts of this size; 0: a short question")
      .range(0, 10'000'000)
      .value("N");
  add_prompts_flag(app, options.prompts, "prompts of a size; each is asked behind a reference number");
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

}  // namespace

void register_load_flags(cli::App& app, LoadOptions& options) {
  using cli::Common;
  options.common.seed = 0;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kWarmup,
                              Common::kDb, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  add_load_section(app, options);
  app.description(
      "Latencies count from the scheduled start, so that waiting in the client is seen and no request is left out "
      "because an earlier one was slow. A percentile with fewer than five observations in its tail is marked with *. "
      "The cells of one sweep share boot, caches and drift: they are correlated, and no basis for a verdict.");
}

Status check_load_flags(const LoadOptions& options) {
  const bool open = !options.rates.empty();
  for (const auto& [flag, option] : open ? options.closed_only : options.open_only) {
    if (!option.given()) continue;
    return fail(Errc::kUsage, open ? flag + " is of the closed loop and --rate of the open one: leave one of them out"
                                   : flag + " is of the open loop: give --rate too");
  }
  return {};
}

leg::ConcurrencyPlan load_plan(const LoadOptions& options) {
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

Json load_plan_json(const LoadOptions& options) {
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

void print_load(const Bench& bench, const KeepingSink& keep, const Server& server, report::Format format,
                const Json& more, std::ostream& out) {
  std::vector<CellFigures> cells;
  for (const load::Sample& sample : keep.samples) {
    if (!sample.warmup) cells.push_back(load_figures(sample));
  }
  report::Records records = load_rows(cells, format);
  records.meta = bench_head(bench, server, keep);
  records.meta.set("correlated", cells.size() > 1);
  for (const auto& [name, value] : more.members()) records.meta.set(name, value);
  out << report::render(records, format);
  if (format != report::Format::kTable) return;
  out << "\n* fewer than five observations in the tail. Latencies count from the scheduled start.\n";
  if (cells.size() > 1) out << "The rows of one sweep are correlated: compare boots, not rows.\n";
}

}  // namespace bk::tool
