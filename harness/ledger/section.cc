#include "ledger/section.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ledger/boot_table.h"
#include "report/markdown.h"
#include "report/number.h"
#include "stats/historical.h"

namespace bk::ledger {
namespace {

using report::markdown_escape;

std::string or_missing(const std::string& text) { return text.empty() ? report::kMissing : markdown_escape(text); }

std::string bullet(const std::string& name, const std::string& text) { return "- **" + name + "**: " + text + "\n"; }

std::string with_reason(const std::string& text, const std::string& reason) {
  return reason.empty() ? text : text + ": " + markdown_escape(reason);
}

/// The older rule, always with how often it errs.
std::string historical_line(const store::AssessmentRow& a) {
  const std::string errs =
      fmt::format("it calls about {:.0f} % of brackets without any effect resolved, so it decides nothing",
                  stats::kHistoricalFalseAlarmRate * 100);
  if (!a.historical_effect_pct) return bullet("historical rule", "does not apply (" + errs + ")");
  return bullet("historical rule", "effect " + report::percent(a.historical_effect_pct) + ", gap between the bases " +
                                       report::fixed(a.historical_base_gap_pct, 2) + " %, call " +
                                       or_missing(a.historical_call) + " (" + errs + ")");
}

std::string assessment_lines(const store::AssessmentRow& a) {
  std::string out = bullet("assessment", with_reason(a.state + " (" + markdown_escape(a.reason_code) + ")", a.reason));
  out += bullet("effect, raw", effect_text(a.effect_raw_pct));
  out += bullet("effect at equal acceptance", effect_text(a.effect_equal_acceptance_pct));
  out += bullet("effect on acceptance", effect_text(a.effect_on_acceptance_points, true));
  out += bullet("drift, last base against first", report::percent(a.drift_pct));
  if (a.p_value) out += bullet("p", report::number(a.p_value, 3));
  if (a.boots_needed) out += bullet("boots needed to decide", std::to_string(*a.boots_needed));
  return out + historical_line(a);
}

std::string verdict_lines(const store::VerdictRow& v) {
  std::string signature = v.word + ", signed by " + markdown_escape(v.signed_by) + " on " + date_of(v.created_wall);
  if (!v.original_word.empty()) signature += " (original word: " + markdown_escape(v.original_word) + ")";
  std::string out = bullet("verdict", with_reason(signature, v.reason));
  if (!v.override_reason.empty()) out += bullet("OVERRIDE", markdown_escape(v.override_reason));
  return out;
}

/// Every proof once an arm: "GATEFUSE base held 2/2".
Result<std::string> proof_line(store::Database& database, store::RowId bracket,
                               const std::vector<store::BootRow>& boots) {
  BK_ASSIGN(const auto proofs, database.proofs(bracket));
  std::map<std::pair<std::string, std::string>, std::pair<int, int>> tally;  // knob and arm -> held, of
  for (const store::ProofRow& proof : proofs) {
    const auto boot = std::find_if(boots.begin(), boots.end(), [&](const auto& b) { return b.id == proof.boot_id; });
    auto& [held, of] = tally[{proof.knob, boot == boots.end() ? "" : boot->arm}];
    held += proof.state == "held" ? 1 : 0;
    ++of;
  }
  std::string text;
  for (const auto& [what, count] : tally) {
    text += (text.empty() ? "" : ", ") + markdown_escape(what.first) + " in " + what.second +
            fmt::format(" held {}/{}", count.first, count.second);
  }
  return bullet("proofs", text.empty() ? "none taken" : text);
}

}  // namespace

std::string date_of(Nanos wall) { return wall == 0 ? report::kMissing : format_utc(wall).substr(0, 10); }

std::string effect_text(const store::EffectRow& effect, bool points) {
  if (!effect.value) {
    return std::string(report::kMissing) + (effect.reason.empty() ? "" : " (" + markdown_escape(effect.reason) + ")");
  }
  return points ? report::points_interval(effect.value, effect.lo, effect.hi)
                : report::percent_interval(effect.value, effect.lo, effect.hi);
}

std::string assessment_text(const store::BracketSummary& summary) {
  if (!summary.assessment) return report::kMissing;
  return summary.assessment->state + " (" + summary.assessment->reason_code + ")";
}

std::string gates_text(const store::BracketSummary& summary) {
  if (summary.gates_asked == 0) return report::kMissing;
  return fmt::format("{}/{}", summary.gates_passed, summary.gates_asked);
}

std::string verdict_text(const store::BracketSummary& summary) {
  return summary.verdict ? summary.verdict->word : "unsigned";
}

Result<std::string> bracket_section(store::Database& database, const store::BracketSummary& summary,
                                    const std::vector<store::NoteRow>& notes) {
  const store::BracketRow& b = summary.bracket;
  std::string out =
      "### " + store::short_uid(b.uid) + " · " + markdown_escape(b.profile) + " · " + markdown_escape(b.axis) + "\n\n";
  out += bullet("id", b.uid);
  out += bullet("measured", date_of(b.created_wall) + ", state " + with_reason(b.state, b.reason));
  out += bullet("primary metric", or_missing(b.primary_metric) + " in " + or_missing(b.primary_cell) +
                                      (b.better.empty() ? "" : ", " + b.better + " is better"));
  if (!b.reopen_reason.empty()) out += bullet("reopened", markdown_escape(b.reopen_reason));
  if (!b.source.empty()) out += bullet("imported from", markdown_escape(b.source));
  out += summary.verdict ? verdict_lines(*summary.verdict) : bullet("verdict", "unsigned");
  out += summary.assessment ? assessment_lines(*summary.assessment) : bullet("assessment", "none yet");
  BK_ASSIGN(const auto boots, database.boots(b.id));
  if (!boots.empty()) {
    BK_ASSIGN(const std::string proofs, proof_line(database, b.id, boots));
    out += proofs;
    BK_ASSIGN(const std::string tables, boot_tables(database, b, boots));
    out += tables;
  }
  for (const store::NoteRow& note : notes) {
    if (note.subject_kind != "bracket" || note.subject != b.uid) continue;
    out += "\n> " + markdown_escape(note.text) + " (" + markdown_escape(note.author) + ", " +
           date_of(note.created_wall) + ")\n";
  }
  return out + "\n";
}

}  // namespace bk::ledger
