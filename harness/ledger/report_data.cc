#include <algorithm>
#include <map>

#include "ledger/report_page.h"
#include "ledger/section.h"
#include "report/number.h"

namespace bk::ledger {
namespace {

constexpr std::size_t kTimelinePoints = 120;  // of one request: more than a screen shows

/// Whole milliseconds since 1970, as a browser's Date takes them.
std::int64_t to_epoch_ms(Nanos wall) { return wall / kMillisecond; }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json effect_json(const store::EffectRow& e) {
  return e.value ? Json::array().push(*e.value).push(e.lo).push(e.hi) : Json();
}

Json assessment_json(const store::AssessmentRow& a) {
  Json j = Json::object();
  j.set("state", a.state).set("code", a.reason_code).set("reason", a.reason);
  j.set("raw", effect_json(a.effect_raw_pct)).set("equal", effect_json(a.effect_equal_acceptance_pct));
  j.set("acceptance", effect_json(a.effect_on_acceptance_points)).set("p", a.p_value).set("drift", a.drift_pct);
  j.set("why", Json::object()
                   .set("raw", text_or_null(a.effect_raw_pct.reason))
                   .set("equal", text_or_null(a.effect_equal_acceptance_pct.reason))
                   .set("acceptance", text_or_null(a.effect_on_acceptance_points.reason)));
  j.set("needed", a.boots_needed);
  // The rule says which effect it judged by; without one at equal acceptance it is the raw one.
  const bool by_acceptance =
      a.effect_equal_acceptance_pct.value && a.reason.find("equal acceptance") != std::string::npos;
  j.set("by_acceptance", by_acceptance).set("band_pct", 0.5);
  const std::string call = a.historical_call.empty() ? "" : ", " + a.historical_call;
  return j.set("old", a.historical_effect_pct ? Json(report::percent(a.historical_effect_pct) + call) : Json());
}

Json verdict_json(const store::VerdictRow& v) {
  Json j = Json::object();
  j.set("word", v.word).set("by", v.signed_by).set("reason", v.reason).set("date", to_epoch_ms(v.created_wall));
  return j.set("override", text_or_null(v.override_reason)).set("original", text_or_null(v.original_word));
}

Json note_json(const store::NoteRow& note) {
  const std::string about = note.subject.empty() ? "" : note.subject_kind + " " + note.subject + ": ";
  return Json::object()
      .set("about", about)
      .set("text", note.text)
      .set("author", note.author)
      .set("date", to_epoch_ms(note.created_wall));
}

Json replaced_json(const std::vector<store::AssessmentRow>& replaced) {
  Json list = Json::array();
  for (const store::AssessmentRow& a : replaced) {
    Json j = Json::object();
    j.set("state", a.state).set("code", a.reason_code).set("reason", a.reason);
    list.push(j.set("date", to_epoch_ms(a.created_wall)).set("version", text_or_null(a.tool_version)));
  }
  return list;
}

Json boot_json(const store::BootRow& boot, const BracketDetail& detail) {
  std::map<std::string, Json> cells;
  for (const store::BootFigure& f : detail.figures) {
    if (f.boot_id != boot.id || !f.median) continue;
    auto& cell = cells.try_emplace(f.cell, Json::object()).first->second;
    const double scale = f.name == store::kAcceptanceFigure ? 100 : 1;
    Json values = Json::array();
    for (const auto& v : {f.median, f.minimum, f.maximum}) values.push(v ? Json(*v * scale) : Json());
    cell.set(f.name == store::kAcceptanceFigure ? "acceptance_raw_pct" : f.name,
             values.push(f.count).push(f.samples).push(f.failed));
  }
  Json gates = Json::array();
  for (const auto& [id, gate] : detail.gates) {
    if (id == boot.id) {
      gates.push(Json::array().push(gate.name).push(gate.passed).push(gate.asked).push(gate.verdict));
    }
  }
  Json by_cell = Json::object();
  for (auto& [name, cell] : cells) by_cell.set(name, std::move(cell));
  Json j = Json::object();
  j.set("arm", boot.arm)
      .set("state", boot.state)
      .set("reason", boot.state == "done" ? Json() : text_or_null(boot.reason));
  return j.set("cells", std::move(by_cell)).set("gates", std::move(gates));
}

/// [boot, acceptance in percent, value] of every good sample of the primary cell that has both.
Result<Json> points_json(store::Database& database, const BracketDetail& detail) {
  const store::BracketRow& b = detail.summary.bracket;
  std::map<store::RowId, std::size_t> place;
  for (std::size_t i = 0; i < detail.boots.size(); ++i) place[detail.boots[i].id] = i;
  Json points = Json::array();
  BK_ASSIGN(const auto all, database.metric_points(b.id));
  for (const store::MetricPoint& p : all) {
    if (p.metric != b.primary_metric || p.cell != b.primary_cell || !p.sample_ok) continue;
    if (!p.value.value || !p.accept_raw) continue;
    points.push(Json::array().push(place[p.boot_id]).push(*p.accept_raw * 100).push(*p.value.value));
  }
  return points;
}

/// The token times of one request, thinned to what a screen shows, first and last kept.
Json timeline_json(std::size_t boot, const std::string& arm, const store::RequestRow& request) {
  Json ms = Json::array(), tokens = Json::array();
  const std::size_t n = request.events.size();
  const std::size_t step = std::max<std::size_t>(1, n / kTimelinePoints);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += std::max(1, int{request.events[i].tokens});
    if (i % step != 0 && i + 1 != n) continue;
    ms.push(to_ms(request.events[i].at));
    tokens.push(sum);
  }
  return Json::object().set("boot", boot).set("arm", arm).set("ms", std::move(ms)).set("tokens", std::move(tokens));
}

/// Of the first good measured request of the primary cell of a boot; nothing where the database has none.
Result<Json> first_timeline(store::Database& database, const BracketDetail& detail, std::size_t place) {
  const store::BootRow& boot = detail.boots[place];
  BK_ASSIGN(const auto legs, database.legs(boot.id));
  for (const store::LegRow& leg : legs) {
    BK_ASSIGN(const auto samples, database.samples(leg.id));
    for (const store::SampleRow& sample : samples) {
      if (sample.warmup || !sample.ok || sample.cell != detail.summary.bracket.primary_cell) continue;
      BK_ASSIGN(const auto requests, database.requests(sample.id));
      if (requests.empty() || requests.front().events.size() < 2) return Json();
      return timeline_json(place, boot.arm, requests.front());
    }
  }
  return Json();
}

Status add_samples(store::Database& database, const BracketDetail& detail, Json& json) {
  BK_ASSIGN(Json points, points_json(database, detail));
  json.set("points", std::move(points));
  Json timelines = Json::array();
  for (std::size_t i = 0; i < detail.boots.size(); ++i) {
    BK_ASSIGN(Json one, first_timeline(database, detail, i));
    if (!one.is_null()) timelines.push(std::move(one));
  }
  json.set("timelines", std::move(timelines)).set("detail", true);
  return {};
}

Json proofs_json(const BracketDetail& detail) {
  const store::ProofTally& p = detail.proofs;
  if (p.all + p.others == 0) return {};
  const std::string others = p.others == 0 ? "" : fmt::format("; other knobs {} of {}", p.others_held, p.others);
  return fmt::format("{} held in {} of {} boots{}", detail.summary.bracket.knob, p.held, p.all, others);
}

Json bracket_json(const BracketDetail& detail, const std::vector<store::NoteRow>& notes) {
  const store::BracketRow& b = detail.summary.bracket;
  Json j = Json::object();
  j.set("uid", b.uid).set("date", to_epoch_ms(b.created_wall)).set("profile", b.profile).set("axis", b.axis);
  j.set("state", b.state).set("reason", text_or_null(b.reason)).set("metric", b.primary_metric);
  j.set("cell", b.primary_cell).set("better", b.better).set("reopened", text_or_null(b.reopen_reason));
  j.set("source", text_or_null(b.source)).set("proofs", proofs_json(detail));
  j.set("passed", detail.summary.gates_passed).set("asked", detail.summary.gates_asked);
  const auto imported = parse_json(b.imported_json);
  j.set("imported", imported ? *imported : Json()).set("recorded", recorded_change_pct(b));
  j.set("assessment", detail.summary.assessment ? assessment_json(*detail.summary.assessment) : Json());
  j.set("verdict", detail.summary.verdict ? verdict_json(*detail.summary.verdict) : Json());
  j.set("replaced", replaced_json(detail.replaced)).set("outdated", text_or_null(outdated_text(detail.summary)));
  Json boots = Json::array(), own_notes = Json::array();
  for (const store::BootRow& boot : detail.boots) boots.push(boot_json(boot, detail));
  for (const store::NoteRow& note : notes) {
    if (note.subject_kind == "bracket" && note.subject == b.uid) own_notes.push(note_json(note));
  }
  j.set("boots", std::move(boots)).set("notes", std::move(own_notes));
  return j.set("points", Json::array()).set("timelines", Json::array()).set("detail", false);
}

}  // namespace

Result<Json> report_data(store::Database& database, std::size_t detailed) {
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  BK_ASSIGN(const auto notes, database.notes());
  BK_ASSIGN(const auto calibration, database.newest_calibration());
  BK_ASSIGN(const Replaced replaced, load_replaced(database));
  Json list = Json::array();
  for (std::size_t i = 0; i < brackets.size(); ++i) {
    BK_ASSIGN(const BracketDetail detail, load_detail(database, brackets[i], replaced));
    Json json = bracket_json(detail, notes);
    if (i + detailed >= brackets.size()) BK_TRY(add_samples(database, detail, json));
    list.push(std::move(json));
  }
  Json general = Json::array();
  for (const store::NoteRow& note : notes) {
    if (note.subject_kind != "bracket") general.push(note_json(note));
  }
  Json data = Json::object();
  data.set("schema_version", 1).set("brackets", std::move(list)).set("notes", std::move(general));
  Json newest;
  if (calibration) {
    BK_ASSIGN(newest, parse_json(calibration->result_json));
  }
  return data.set("calibration", std::move(newest));
}

}  // namespace bk::ledger
