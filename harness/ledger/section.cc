#include "ledger/section.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "ledger/boot_table.h"
#include "ledger/facts.h"
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
  out += bullet("effect, raw", markdown_escape(plain_effect_text(a.effect_raw_pct)));
  out += bullet("effect at equal acceptance", markdown_escape(plain_effect_text(a.effect_equal_acceptance_pct)));
  out += bullet("effect on acceptance", markdown_escape(plain_effect_text(a.effect_on_acceptance_points, true)));
  out += bullet("drift, last base against first", report::percent(a.drift_pct));
  if (a.p_value) out += bullet("p", fmt::format("{:.2g}", *a.p_value));
  if (a.boots_needed) out += bullet("boots needed to decide", std::to_string(*a.boots_needed));
  return out + historical_line(a);
}

/// What was assessed before, in short.
std::string replaced_lines(const std::vector<store::AssessmentRow>& replaced) {
  std::string out;
  for (const store::AssessmentRow& a : replaced) {
    const std::string by = a.tool_version.empty() ? "" : " by version " + markdown_escape(a.tool_version);
    out += bullet("assessed before",
                  with_reason(a.state + " (" + markdown_escape(a.reason_code) + ") on " + date_of(a.created_wall) + by,
                              a.reason));
  }
  return out;
}

std::string verdict_lines(const store::VerdictRow& v) {
  std::string signature = v.word + ", signed by " + markdown_escape(v.signed_by) + " on " + date_of(v.created_wall);
  if (!v.original_word.empty()) signature += " (original word: " + markdown_escape(v.original_word) + ")";
  std::string out = bullet("verdict", with_reason(signature, v.reason));
  if (!v.override_reason.empty()) out += bullet("OVERRIDE", markdown_escape(v.override_reason));
  return out;
}

/// The judged knob, and how many of the others: "GATEFUSE held in 5 of 5 boots; other knobs 65 of 65".
std::string proof_line(const BracketDetail& detail) {
  const store::ProofTally& p = detail.proofs;
  if (p.all + p.others == 0) return bullet("proofs", "none taken");
  std::string text =
      fmt::format("{} held in {} of {} boots", markdown_escape(detail.summary.bracket.knob), p.held, p.all);
  if (p.others > 0) text += fmt::format("; other knobs {} of {}", p.others_held, p.others);
  return bullet("proofs", text);
}

/// As an imported row wrote it; "" for none.
std::string recorded_change(const store::BracketRow& bracket) {
  if (bracket.imported_json.empty()) return {};
  const auto row = parse_json(bracket.imported_json);
  return row ? (*row)["delta_pct"].as_string().value_or("") : "";
}

/// What an imported row said, in its own terms.
std::string imported_lines(const store::BracketRow& b) {
  const auto row = parse_json(b.imported_json);
  if (!row) return {};
  const auto text = [&](const char* name) { return (*row)[name].as_string().value_or(""); };
  std::string out = bullet("recorded", or_missing(text("base1")) + " / " + or_missing(text("cand")) + " / " +
                                           or_missing(text("base2")) + " (base / candidate / base, " +
                                           or_missing(text("unit")) + ")");
  out += bullet("recorded change", or_missing(text("delta_pct")) + " %; negative is faster where times are meant");
  if (!text("acceptance").empty()) out += bullet("beside it", markdown_escape(acceptance_label(text("acceptance"))));
  return out;
}

}  // namespace

std::string date_of(Nanos wall) { return wall == 0 ? report::kMissing : format_utc(wall).substr(0, 10); }

std::string plain_effect_text(const store::EffectRow& effect, bool points) {
  if (!effect.value) return report::kMissing + (effect.reason.empty() ? std::string() : " (" + effect.reason + ")");
  return points ? report::points_interval(effect.value, effect.lo, effect.hi)
                : report::percent_interval(effect.value, effect.lo, effect.hi);
}

std::optional<double> recorded_change_pct(const store::BracketRow& bracket) {
  return parse_double(recorded_change(bracket));
}

std::string measured_effect_text(const store::BracketSummary& summary) {
  if (summary.assessment) return plain_effect_text(summary.assessment->effect_raw_pct);
  const std::string change = recorded_change(summary.bracket);
  if (change.empty()) return report::kMissing;
  const auto number = parse_double(change);
  return (number ? report::percent(number) : change + " %") + " (recorded)";
}

std::string assessment_text(const store::BracketSummary& summary) {
  if (!summary.assessment) return report::kMissing;
  return summary.assessment->state + " (" + summary.assessment->reason_code + ")";
}

std::string outdated_text(const store::BracketSummary& summary) {
  if (!summary.is_outdated()) return {};
  return fmt::format("signed when it was assessed {}, which is {} now", summary.signed_state,
                     summary.assessment->state);
}

std::string gates_text(const store::BracketSummary& summary) {
  if (summary.gates_asked == 0) return report::kMissing;
  return fmt::format("{}/{}", summary.gates_passed, summary.gates_asked);
}

bool is_baseline(const store::BracketRow& bracket) { return bracket.knob.empty() && bracket.axis == "baseline"; }

std::string verdict_text(const store::BracketSummary& summary) {
  return summary.verdict ? summary.verdict->word : "unsigned";
}

Result<Replaced> load_replaced(store::Database& database) {
  BK_ASSIGN(auto rows, database.replaced_assessments());
  Replaced out;
  for (store::AssessmentRow& row : rows) out[row.bracket_id].push_back(std::move(row));
  return out;
}

Result<BracketDetail> load_detail(store::Database& database, store::BracketSummary summary, const Replaced& replaced) {
  BracketDetail detail;
  detail.summary = std::move(summary);
  const store::RowId id = detail.summary.bracket.id;
  if (const auto before = replaced.find(id); before != replaced.end()) detail.replaced = before->second;
  BK_ASSIGN(detail.boots, database.boots_briefly(id));
  if (detail.boots.empty()) return detail;
  BK_ASSIGN(detail.figures, database.boot_figures(id));
  BK_ASSIGN(detail.gates, database.boot_gates(id));
  BK_ASSIGN(detail.proofs, database.proof_tally(id, detail.summary.bracket.knob));
  return detail;
}

std::string bracket_section(const BracketDetail& detail, const std::vector<store::NoteRow>& notes) {
  const store::BracketSummary& summary = detail.summary;
  const store::BracketRow& b = summary.bracket;
  const bool imported = !b.imported_json.empty();
  std::string out =
      "### " + store::short_uid(b.uid) + " · " + markdown_escape(b.profile) + " · " + markdown_escape(b.axis) + "\n\n";
  out += bullet("id", b.uid);
  out += bullet("measured", date_of(b.created_wall) + ", state " + with_reason(b.state, b.reason));
  out += bullet("primary metric", or_missing(b.primary_metric) +
                                      (b.primary_cell.empty() ? "" : " in " + markdown_escape(b.primary_cell)) +
                                      (b.better.empty() ? "" : ", " + b.better + " is better"));
  if (!b.reopen_reason.empty()) out += bullet("reopened", markdown_escape(b.reopen_reason));
  if (!b.source.empty()) out += bullet("imported from", markdown_escape(b.source));
  if (summary.verdict) {
    out += verdict_lines(*summary.verdict);
    if (summary.is_outdated()) out += bullet("TO BE SIGNED AGAIN", outdated_text(summary));
  } else if (!is_baseline(b)) {
    out += bullet("verdict", "unsigned");
  }
  if (imported) out += imported_lines(b);
  if (summary.assessment || !imported) {
    out += summary.assessment ? assessment_lines(*summary.assessment)
                              : bullet("assessment", is_baseline(b) ? "none: nothing is compared" : "none yet");
    out += replaced_lines(detail.replaced);
  }
  if (!detail.boots.empty()) {
    out += proof_line(detail);
    out += boot_tables(b, detail.boots, detail.figures, detail.gates);
  }
  for (const store::NoteRow& note : notes) {
    if (note.subject_kind != "bracket" || note.subject != b.uid) continue;
    out += "\n> " + markdown_escape(note.text) + " (" + markdown_escape(note.author) + ", " +
           date_of(note.created_wall) + ")\n";
  }
  return out + "\n";
}

}  // namespace bk::ledger
