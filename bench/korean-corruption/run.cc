#include "run.h"

#include <fmt/format.h>

#include <ostream>

#include "leg/korean.h"
#include "report/format.h"
#include "tool/gate_exit.h"
#include "tool/session.h"

namespace bk::korean_corruption {
namespace {

constexpr const char* kName = "korean-corruption";
constexpr std::size_t kContextsShown = 6;

struct Options {
  cli::CommonFlags common;
  std::int64_t rounds = 2;
  std::int64_t max_tokens = 400;
  std::int64_t concurrency = 1;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kDb, Common::kFormat, Common::kOut,
                              Common::kDryRun, Common::kQuiet});
  app.description(
      "Asks eight fixed Korean prompts at temperature 0 and looks in every reply for replacement characters, single "
      "letters behind a syllable, Chinese characters that no Korean word introduces, and control characters. "
      "Exit code 0 when every reply is clean, 1 when one is not (one of sixteen is within chance: run more rounds), 4 "
      "when a reply is missing or holds no Korean, 3 when every request failed.");
  app.option("--rounds", options.rounds, "how often each of the eight prompts is asked").range(1, 100'000).value("N");
  app.option("--max-tokens", options.max_tokens, "most tokens of a reply").range(1, 1'000'000).value("N");
  app.option("--concurrency", options.concurrency, "requests at a time").range(1, 1024).value("N");
  app.example("korean-corruption --base-url http://127.0.0.1:8000", "sixteen replies");
  app.example("korean-corruption --rounds 50 --concurrency 4", "400 replies, for a rate");
}

Json plan_json(const Options& options) {
  return Json::object()
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
    records.rows.push_back({name, i < gate::kGatedKoreanMarks ? "yes" : "no", count,
                            leg::per_million(count, outcome.total.characters), replies});
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

void print(const leg::KoreanOutcome& outcome, const tool::Server& server, const Options& options, report::Format format,
           std::ostream& out) {
  report::Records records = records_of(outcome);
  if (format == report::Format::kTable) {
    out << contexts_text(outcome) << report::render(records, format);
    out << fmt::format("=> {} ({} characters)\n", outcome.gate.detail, outcome.total.characters);
    return;
  }
  Json head = tool::output_head(kName);
  head.set("endpoint", server.endpoint.base_url).set("model", server.endpoint.model).set("plan", plan_json(options));
  head.set("verdict", leg::to_string(outcome.gate.verdict)).set("detail", outcome.gate.detail);
  head.set("dirty", outcome.dirty).set("clean", outcome.gate.passed).set("asked", outcome.gate.asked);
  head.set("no_answer", outcome.no_answer).set("requests_failed", outcome.requests_failed);
  head.set("characters", outcome.total.characters).set("places", places_json(outcome));
  records.meta = head.set("questions", outcome.gate.questions);
  out << report::render(records, format);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Looks for damaged characters in a running server's Korean replies");
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
  leg::KoreanPlan plan;
  plan.rounds = static_cast<int>(options.rounds);
  plan.max_tokens = static_cast<int>(options.max_tokens);
  plan.concurrency = static_cast<int>(options.concurrency);
  plan.stopped = [&] { return interrupts.interrupted(); };
  leg::KoreanOutcome outcome;
  BK_TRY(tool::record_leg({kName, "korean", plan_json(options), options.common.db, 0, args}, server, streams, keep,
                          [&](leg::Sink& sink) -> Status {
                            BK_ASSIGN(outcome, leg::run_korean(*server.transport, server.endpoint, plan, sink));
                            return {};
                          }));
  print(outcome, server, options, format, output.stream());
  BK_TRY(output.close());
  return tool::gate_exit(outcome.gate, outcome.requests_failed);
}

}  // namespace bk::korean_corruption
