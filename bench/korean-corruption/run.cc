#include "run.h"

#include <fmt/format.h>

#include <ostream>

#include "leg/korean.h"
#include "report/format.h"
#include "tool/gate.h"
#include "tool/prompts.h"

namespace bk::korean_corruption {
namespace {

constexpr const char* kName = "korean-corruption";
constexpr std::size_t kContextsShown = 6;

struct Options {
  cli::CommonFlags common;
  std::int64_t rounds = 2;
  std::int64_t max_tokens = 400;
  std::int64_t concurrency = 1;
  load::PromptFile prompts;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.seed = 0;  // nothing here is random
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kDb, Common::kFormat, Common::kOut,
                              Common::kDryRun, Common::kQuiet});
  app.description(
      "Asks eight fixed Korean prompts at temperature 0 and looks in every reply for replacement characters, single "
      "letters behind a syllable, Chinese characters that no Korean word introduces, and control characters. "
      "Exit code 0 when every reply is clean, 1 when one is not (one of sixteen is within chance: run more rounds), 4 "
      "when a reply is missing or holds no Korean, 3 when every request failed.");
  app.option("--rounds", options.rounds, "how often each prompt is asked").range(1, 100'000).value("N");
  app.option("--max-tokens", options.max_tokens, "most tokens of a reply").range(1, 1'000'000).value("N");
  app.option("--concurrency", options.concurrency, "requests at a time").range(1, 1024).value("N");
  tool::add_prompts_flag(app, options.prompts, "the eight built in");
  app.example("korean-corruption --base-url http://127.0.0.1:8000", "sixteen replies");
  app.example("korean-corruption --rounds 50 --concurrency 4", "400 replies, for a rate");
}

Json plan_json(const Options& options) {
  return Json::object()
      .set("prompts", options.prompts.empty() ? Json() : Json(options.prompts.content().hash()))
      .set("rounds", options.rounds)
      .set("max_tokens", options.max_tokens)
      .set("concurrency", options.concurrency);
}

report::Records records_of(const leg::KoreanOutcome& outcome) {
  report::Records records;
  records.columns = {{"mark", "", "", report::Align::kLeft},
                     {"gated", "", "", report::Align::kLeft},
                     {"characters", "", "", report::Align::kRight, 9},
                     {"per_million", "", "", report::Align::kRight, 4},
                     {"replies", "", "", report::Align::kRight, 9}};
  for (std::size_t i = 0; i < gate::kKoreanMarks; ++i) {
    const std::string name = gate::to_string(static_cast<gate::KoreanMark>(i));
    std::int64_t replies = 0;
    for (const Json& question : outcome.gate.questions.items()) {
      replies += question["verdict"].as_string() != "no_answer" && question["counts"][name].as_int().value_or(0) > 0;
    }
    const std::int64_t count = outcome.total.counts[i];
    const bool seen = outcome.total.characters > 0;
    records.rows.push_back({name, i < gate::kGatedKoreanMarks ? "yes" : "no", seen ? Json(count) : Json(),
                            leg::per_million(count, outcome.total.characters), seen ? Json(replies) : Json()});
  }
  return records;
}

std::string contexts_text(const leg::KoreanOutcome& outcome) {
  std::string text;
  std::size_t shown = 0;
  for (const gate::KoreanPlace& place : outcome.total.places) {
    if (static_cast<std::size_t>(place.mark) >= gate::kGatedKoreanMarks || shown == kContextsShown) continue;
    ++shown;
    text += fmt::format("{} {}: …{}…\n", gate::to_string(place.mark), place.characters, place.context);
  }
  return text;
}

Json places_json(const leg::KoreanOutcome& outcome) {
  Json places = Json::array();
  for (const gate::KoreanPlace& place : outcome.total.places) {
    Json json = Json::object();
    json.set("mark", gate::to_string(place.mark)).set("at", place.at);
    places.push(json.set("characters", place.characters).set("context", place.context));
  }
  return places;
}

void print(const leg::KoreanOutcome& outcome, Json head, report::Format format, std::ostream& out) {
  report::Records records = records_of(outcome);
  if (format == report::Format::kTable) {
    out << contexts_text(outcome) << report::render(records, format);
    out << fmt::format("=> {} ({} characters)\n", outcome.gate.detail, outcome.total.characters);
    return;
  }
  head.set("dirty", outcome.dirty).set("clean", outcome.gate.passed).set("no_answer", outcome.no_answer);
  head.set("characters", outcome.total.characters).set("places", places_json(outcome));
  records.meta = std::move(head);
  out << report::render(records, format);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Looks for damaged characters in a running server's Korean replies");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  leg::KoreanOutcome outcome;
  tool::Bench bench;
  bench.program = kName;
  bench.leg = "korean";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) -> Status {
    leg::KoreanPlan plan;
    if (!options.prompts.empty()) plan.prompts = options.prompts.prompts;
    plan.rounds = static_cast<int>(options.rounds);
    plan.max_tokens = static_cast<int>(options.max_tokens);
    plan.concurrency = static_cast<int>(options.concurrency);
    plan.stopped = stopped;
    BK_ASSIGN(outcome, leg::run_korean(*server.transport, server.endpoint, plan, sink));
    return {};
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) {
    print(outcome, tool::gate_head(bench, server, keep, outcome.gate), format, out);
  };
  return tool::run_gate(bench, options.common, streams, args);
}

}  // namespace bk::korean_corruption
