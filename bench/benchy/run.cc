#include "run.h"

#include <algorithm>
#include <ostream>

#include "load/prompts.h"
#include "measure.h"
#include "output.h"
#include "tool/session.h"

namespace bk::benchy {
namespace {

constexpr const char* kName = "benchy";

struct Options {
  cli::CommonFlags common;
  Plan plan;
  std::string tokenizer;
  std::int64_t runs = 3;
  bool skip_coherence = false, no_adapt_prompt = false;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  Plan& plan = options.plan;
  options.common.seed = 0;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kSeed, Common::kDb, Common::kFormat,
                              Common::kOut, Common::kDryRun, Common::kQuiet});
  app.description(
      "Sends the requests of llama-benchy 0.4.0 in its order and reports its columns by its definitions, so that rows "
      "compare with published ones; beside them stand the figures that the definitions miss (a role chunk counted as "
      "the first response, usage spread evenly over events, a peak of streams shorter than a second). "
      "Without a seed the prompts are new ones in every run; a seed that is given makes the same ones again, which a "
      "running server may have cached. "
      "Exit code 1 when some requests failed or the coherence question was answered wrongly, 3 when every one failed.");
  app.section("MEASUREMENT");
  app.option("--pp", plan.pp, "prompt tokens").value("LIST");
  app.option("--tg", plan.tg, "tokens asked for").value("LIST");
  app.option("--depth", plan.depth, "tokens of context before the prompt").value("LIST");
  app.option("--concurrency", plan.concurrency, "requests at once").value("LIST");
  app.option("--runs", options.runs, "measured batches of a row; one more is discarded first")
      .range(1, 10'000)
      .value("N");
  app.option("--latency-mode", plan.latency_mode,
             "what is taken off ttfr: a list of models, a one-token reply, nothing")
      .choices({"api", "generation", "none"});
  app.flag("--enable-prefix-caching", plan.prefix_caching,
           "load each context first, then ask on it (rows ctx_pp, ctx_tg)");
  app.flag("--no-cache", plan.body.no_cache, "a unique end to each prompt, and cache_prompt false");
  app.flag("--exact-tg", plan.body.exact_tg, "min_tokens and ignore_eos, so that replies have exactly --tg tokens");
  app.flag("--skip-coherence", options.skip_coherence, "measure a model that cannot name the capital of France");
  app.option("--tokenizer", options.tokenizer,
             "size prompts by this tokenizer.json, or the one in this folder, not by the server")
      .value("FILE")
      .no_default();
  app.flag("--no-adapt-prompt", options.no_adapt_prompt, "do not take the chat template's tokens out of the prompts");
  app.example("benchy --base-url http://127.0.0.1:8000 --pp 2048 --tg 32 --depth 0,4096 --concurrency 1,2",
              "four rows of prompt and four of generation");
}

Status check(const Plan& plan) {
  const auto outside = [](const std::vector<std::int64_t>& values, std::int64_t low, std::int64_t high) {
    return values.empty() ||
           std::any_of(values.begin(), values.end(), [&](std::int64_t v) { return v < low || v > high; });
  };
  if (outside(plan.pp, 1, 10'000'000)) return fail(Errc::kUsage, "prompt tokens are 1 to 10000000", "--pp");
  if (outside(plan.tg, 1, 1'000'000)) return fail(Errc::kUsage, "tokens asked for are 1 to 1000000", "--tg");
  if (outside(plan.depth, 0, 10'000'000)) return fail(Errc::kUsage, "a depth is 0 to 10000000 tokens", "--depth");
  if (outside(plan.concurrency, 1, 4096)) return fail(Errc::kUsage, "requests at once are 1 to 4096", "--concurrency");
  return {};
}

Json plan_json(const Plan& plan) {
  Json json = Json::object();
  json.set("pp", plan.pp).set("tg", plan.tg).set("depth", plan.depth).set("concurrency", plan.concurrency);
  json.set("runs", plan.runs).set("latency_mode", plan.latency_mode).set("prefix_caching", plan.prefix_caching);
  json.set("no_cache", plan.body.no_cache).set("exact_tg", plan.body.exact_tg).set("coherence", plan.coherence);
  return json.set("adapt_prompt", plan.adapt).set("seed", std::to_string(plan.seed));
}

void print(const Outcome& outcome, const Plan& plan, const std::string& model, report::Format format,
           std::ostream& out) {
  switch (format) {
    case report::Format::kJson:
      out << to_json(outcome, plan, model).dump(2) << '\n';
      return;
    case report::Format::kTable:
    case report::Format::kMarkdown:
      out << to_tables(outcome, model, format == report::Format::kMarkdown);
      return;
    case report::Format::kCsv:
    case report::Format::kJsonl:
      out << report::render(to_records(outcome, model), format);
      return;
  }
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Measures prompt and generation speed in rows that compare with llama-benchy's");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_ASSIGN(const report::Format format, report::parse_format(options.common.format));
  BK_TRY(check(options.plan));
  BK_ASSIGN(const cli::Connection connection, cli::read_connection(options.common.connection, streams));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  Plan& plan = options.plan;
  plan.runs = static_cast<int>(options.runs);
  plan.coherence = !options.skip_coherence;
  plan.adapt = !options.no_adapt_prompt;
  plan.seed = load::seed_or_new(options.common.seed);
  if (!options.tokenizer.empty()) {
    BK_ASSIGN(plan.tokenizer, load::TokenizerJson::load(options.tokenizer));
  }
  if (options.common.dry_run) {
    output.stream() << plan_json(plan).dump(2) << '\n';
    BK_TRY(output.close());
    return cli::ExitCode::kDone;
  }

  const cli::InterruptGuard interrupts;
  plan.stopped = [&] { return interrupts.interrupted(); };
  BK_ASSIGN(const tool::Server server, tool::reach(connection, plan.stopped));
  plan.body.extra_body = server.endpoint.extra_body;
  tool::KeepingSink keep(streams, options.common.quiet);
  Outcome outcome;
  bool measured = false;
  auto ended = tool::record_leg(
      {kName, "benchy", plan_json(plan), options.common.db, plan.seed, args}, server, streams, keep,
      [&](leg::Sink& sink) -> Status {
        BK_ASSIGN(outcome, measure(*server.transport, server.endpoint, plan, sink));
        measured = true;
        return {};
      },
      [](const tool::KeepingSink& kept) { return tool::outcome_of(kept.samples); });
  if (!measured) return ended;
  print(outcome, plan, server.endpoint.model, format, output.stream());
  BK_TRY(output.close());
  if (!ended && ended.error().where.empty()) {
    return fail(ended.error().code, ended.error().what, server.endpoint.base_url);
  }
  return ended;
}

}  // namespace bk::benchy
