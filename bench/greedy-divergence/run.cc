#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/output.h"
#include "cli/signals.h"
#include "gate/divergence.h"
#include "report/format.h"
#include "texts.h"
#include "tool/prompts.h"
#include "tool/session.h"

namespace bk::greedy_divergence {
namespace {

constexpr const char* kName = "greedy-divergence";

struct Options {
  cli::CommonFlags common;
  std::vector<std::string> base, cand;
  load::PromptFile prompts;
  std::int64_t max_tokens = 200;
  double alpha = 0.05;
  bool record = false;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.add_to(
      app, {Common::kConnection, Common::kExtraBody, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  app.description(
      "Greedy texts of two boots of one configuration part after some characters; a candidate that changes numerics "
      "may "
      "part from them no earlier. Give at least two boots of the base and one of the candidate, each as a file that "
      "--record wrote or as the URL of a running server. "
      "Exit code 0 when the candidate parts no earlier, 1 when it does, 4 when this cannot be told.");
  app.flag("--record", options.record, "ask the server of --base-url and write its texts, one JSON line a prompt");
  app.option("--base", options.base, "texts of one boot of the base; give it twice or more").value("FILE|URL");
  app.option("--cand", options.cand, "texts of one boot of the candidate").value("FILE|URL");
  tool::add_prompts_flag(app, options.prompts, "the twelve built in");
  app.option("--max-tokens", options.max_tokens, "most tokens of a text").range(1, 1'000'000).value("N");
  app.option("--alpha", options.alpha, "false alarms allowed to the sign test").range(1e-6, 0.5).value("P");
  app.example("greedy-divergence --record --base-url http://127.0.0.1:8000 --out base1.jsonl", "in each boot");
  app.example("greedy-divergence --base base1.jsonl --base base2.jsonl --cand cand.jsonl", "afterwards");
}

Result<Texts> texts_from(const std::string& source, const cli::Connection& connection, const leg::GreedyPlan& ask,
                         leg::Sink& sink) {
  const bool is_url = source.starts_with("http://") || source.starts_with("https://");
  if (!is_url) return read_texts(source);
  cli::Connection there = connection;
  there.base_url = source;
  return ask_texts(there, ask, sink);
}

/// One entry for each prompt that stands in every source. kUsage when some stand in no other.
Result<std::vector<gate::GreedyTexts>> together(const std::vector<Texts>& base, const std::vector<Texts>& cand) {
  std::vector<gate::GreedyTexts> prompts;
  const auto all = [](const std::vector<Texts>& sources, const std::string& prompt, std::vector<std::string>& into) {
    for (const Texts& source : sources) {
      const auto found = source.find(prompt);
      if (found == source.end()) return false;
      into.push_back(found->second);
    }
    return true;
  };
  for (const auto& [prompt, text] : base.front()) {
    gate::GreedyTexts texts;
    if (!all(base, prompt, texts.base) || !all(cand, prompt, texts.cand)) {
      return fail(Errc::kUsage, "the sources hold texts of different prompts; record all with the same --prompts",
                  prompt);
    }
    prompts.push_back(std::move(texts));
  }
  return prompts;
}

report::Records records_of(const gate::Divergence& d, const Texts& prompts) {
  report::Records records;
  records.columns = {{"prompt", "", "", report::Align::kLeft}, {"natural_chars", "", ""}, {"cand_chars", "", ""}};
  auto prompt = prompts.begin();
  for (const gate::PromptDivergence& row : d.prompts) {
    records.rows.push_back({prompt->first, row.natural_chars, row.cand_chars});
    ++prompt;
  }
  return records;
}

void print(const gate::Divergence& d, const Texts& prompts, report::Format format, std::ostream& out) {
  report::Records records = records_of(d, prompts);
  if (format == report::Format::kTable) {
    out << report::render(records, format);
    out << fmt::format("=> {}: {} (earlier {}, later {}, alike {}, p {:.3f})\n", gate::to_string(d.verdict), d.reason,
                       d.earlier, d.later, d.equal, d.p_value.value_or(1.0));
    return;
  }
  Json head = tool::output_head(kName);
  head.set("verdict", gate::to_string(d.verdict)).set("reason", d.reason);
  head.set("natural_median_chars", d.natural_median_chars).set("cand_median_chars", d.cand_median_chars);
  head.set("earlier", d.earlier).set("later", d.later).set("equal", d.equal);
  records.meta = head.set("p_value", d.p_value);
  out << report::render(records, format);
}

cli::ExitCode exit_of(gate::Verdict verdict) {
  if (verdict == gate::Verdict::kPass) return cli::ExitCode::kDone;
  return verdict == gate::Verdict::kFail ? cli::ExitCode::kFailed : cli::ExitCode::kInconclusive;
}

Status check(const Options& options) {
  if (options.record) {
    if (options.base.empty() && options.cand.empty()) return {};
    return fail(Errc::kUsage, "--record writes the texts of --base-url; compare without it", "--record");
  }
  if (options.base.size() < 2) {
    return fail(Errc::kUsage, "at least two boots of the base are needed: their divergence is the yardstick", "--base");
  }
  if (options.cand.empty()) return fail(Errc::kUsage, "no texts of the candidate", "--cand");
  return {};
}

Result<std::vector<Texts>> all_texts(const std::vector<std::string>& sources, const cli::Connection& connection,
                                     const leg::GreedyPlan& ask, leg::Sink& sink) {
  std::vector<Texts> all;
  for (const std::string& source : sources) {
    BK_ASSIGN(Texts texts, texts_from(source, connection, ask, sink));
    all.push_back(std::move(texts));
  }
  return all;
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Says whether a candidate's greedy texts part earlier than two boots of the base do");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_ASSIGN(const report::Format format, report::parse_format(options.common.format));
  BK_TRY(check(options));
  BK_ASSIGN(const cli::Connection connection, cli::read_connection(options.common.connection, streams));
  leg::GreedyPlan ask;
  if (!options.prompts.empty()) ask.prompts = options.prompts.prompts;
  ask.max_tokens = static_cast<int>(options.max_tokens);
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  if (options.common.dry_run) {
    output.stream() << Json::object().set("prompts", ask.prompts.size()).set("max_tokens", ask.max_tokens).dump(2)
                    << '\n';
    BK_TRY(output.close());
    return cli::ExitCode::kDone;
  }
  const cli::InterruptGuard interrupts;
  ask.stopped = [&] { return interrupts.interrupted(); };
  tool::KeepingSink keep(streams, options.common.quiet);
  if (options.record) {
    BK_ASSIGN(const Texts texts, ask_texts(connection, ask, keep));
    output.stream() << to_jsonl(texts);
    BK_TRY(output.close());
    return cli::ExitCode::kDone;
  }
  BK_ASSIGN(const std::vector<Texts> base, all_texts(options.base, connection, ask, keep));
  BK_ASSIGN(const std::vector<Texts> cand, all_texts(options.cand, connection, ask, keep));
  BK_ASSIGN(const std::vector<gate::GreedyTexts> prompts, together(base, cand));
  gate::DivergenceRule rule;
  rule.alpha = options.alpha;
  const gate::Divergence d = gate::judge_divergence(prompts, rule);
  print(d, base.front(), format, output.stream());
  BK_TRY(output.close());
  return exit_of(d.verdict);
}

}  // namespace bk::greedy_divergence
