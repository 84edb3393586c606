#include "verdict.h"

#include <fmt/ostream.h>

#include <algorithm>

#include "base/text.h"
#include "bracket/family_plan.h"
#include "bracket/verdict_rule.h"
#include "bracket/view.h"

namespace bk::bracket_tool {

void VerdictCommand::register_on(cli::App& app) {
  app.description(
      "The assessment is computed; the verdict is a person's. One that goes against the assessment, or past a "
      "gate that did not pass, needs --override with the reason, and the ledger shows it.");
  app.positional("ID", id_, "the bracket: its id or the first characters of it").required();
  app.positional("WORD", word_, join(bracket::verdict_words(), ", ")).required();
  app.option("--by", by_, "who signs").required().value("NAME").no_default();
  app.option("--reason", reason_, "why, in a sentence").required().value("TEXT").no_default();
  app.option("--override", override_, "why the verdict stands against what was measured").value("WHY").no_default();
  flags_.add_to(app, {cli::Common::kDb});
}

Result<cli::ExitCode> VerdictCommand::run(cli::Streams& streams, const cli::Args&) {
  const auto& words = bracket::verdict_words();
  if (std::find(words.begin(), words.end(), word_) == words.end()) {
    const auto meant = nearest(word_, words);
    return fail(
        Errc::kUsage,
        fmt::format("a verdict is one of {}{}", join(words, ", "), meant ? "; did you mean " + *meant + "?" : ""),
        word_);
  }
  if (trim(by_).empty()) return fail(Errc::kUsage, "a verdict needs the name of who signs", "--by");
  if (trim(reason_).empty()) return fail(Errc::kUsage, "a verdict needs a reason", "--reason");
  for (const std::string* text : {&by_, &reason_, &override_}) {
    if (!is_utf8(*text)) return fail(Errc::kUsage, "a verdict is UTF-8 text", "--by, --reason, --override");
  }
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_ASSIGN(const bracket::View view, bracket::load_view(database, id_));
  if (view.plan && bracket::is_family(*view.plan)) {
    return fail(Errc::kUsage,
                fmt::format("a {} is signed comparison by comparison; `bracket show {}` names them",
                            view.plan->family["kind"].as_string().value_or("family"),
                            store::short_uid(view.summary.bracket.uid)),
                id_);
  }
  const auto& assessment = view.summary.assessment;
  const std::string conflict =
      bracket::verdict_conflict(word_, assessment ? std::optional(assessment->state) : std::nullopt, view.gates_failed);
  if (!conflict.empty() && trim(override_).empty()) {
    return fail(Errc::kRefused, fmt::format("{}, so {} needs --override \"why\"", conflict, word_),
                store::short_uid(view.summary.bracket.uid));
  }
  store::VerdictRow row;
  row.bracket_id = view.summary.bracket.id;
  if (assessment) row.assessment_id = assessment->id;
  row.word = word_;
  row.signed_by = std::string(trim(by_));
  row.reason = std::string(trim(reason_));
  if (!conflict.empty()) row.override_reason = std::string(trim(override_));
  row.created_wall = wall_now();
  BK_TRY(database.add_verdict(row));
  fmt::print(streams.out, "{} {} ({}): {} by {}\n", store::short_uid(view.summary.bracket.uid),
             view.summary.bracket.axis, view.summary.bracket.profile, word_, row.signed_by);
  return cli::ExitCode::kDone;
}

}  // namespace bk::bracket_tool
