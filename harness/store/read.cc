#include <algorithm>

#include "store/row_io.h"
#include "store/store.h"

namespace bk::store {
namespace {

/// Boots of a bracket: its own, and the base boots that a comparison shares with its matrix or sweep.
constexpr const char* kItsBoots = "o.bracket_id IN (?1, (SELECT family_id FROM bracket WHERE id = ?1))";

/// The newest row of a table for the bracket at hand; ties are broken by uid so that merged databases agree.
std::string newest(const std::string& table) {
  return "(SELECT id FROM " + table + " WHERE bracket_id = b.id ORDER BY created_wall_ns DESC, uid DESC LIMIT 1)";
}

/// A column list with the columns of that name read as NULL.
std::string without(std::string list, const std::string& column) {
  const std::size_t at = list.find(column);
  return at == std::string::npos ? list : list.replace(at, column.size(), "NULL");
}

std::string bracket_columns(bool brief) {
  std::string list = column_list<BracketRow>("b");
  if (!brief) return list;
  for (const char* column : {"b.base_knobs_json", "b.cand_knobs_json"}) list = without(std::move(list), column);
  return list;
}

std::string brief_boot_columns() {
  std::string list = column_list<BootRow>("o");
  for (const char* column : {"o.confirmed_json", "o.command_json", "o.machine_json"}) {
    list = without(std::move(list), column);
  }
  return list;
}

std::string assessment_columns(bool brief) {
  std::string list = column_list<AssessmentRow>("a");
  return brief ? without(std::move(list), "a.detail_json") : list;
}

/// Brackets with their newest assessment and verdict and the tally of their gates. Brief: without the large columns.
Result<std::vector<BracketSummary>> summaries(Connection& connection, const std::string& condition,
                                              const std::vector<Cell>& parameters, bool brief = false) {
  static const std::string kGates =
      "(SELECT count(*) FROM boot o JOIN leg l ON l.boot_id = o.id JOIN gate g ON g.leg_id = l.id "
      "WHERE o.bracket_id IN (b.id, b.family_id) AND o.state = 'done'";
  const std::string sql =
      "SELECT " + bracket_columns(brief) + ", " + assessment_columns(brief) + ", " + column_list<VerdictRow>("v") +
      ", (SELECT count(*) FROM boot o WHERE o.bracket_id IN (b.id, b.family_id) AND o.state = 'done'), " + kGates +
      " AND g.verdict = 'pass'), " + kGates +
      "), (SELECT state FROM assessment s WHERE s.id = v.assessment_id) FROM bracket b LEFT JOIN assessment a ON a.id "
      "= " +
      newest("assessment") + " LEFT JOIN verdict v ON v.id = " + newest("verdict") + " " + condition +
      " ORDER BY b.created_wall_ns, b.uid";
  BK_ASSIGN(const auto rows, connection.query(sql, parameters));
  std::vector<BracketSummary> out;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return out;
    BracketSummary summary;
    AssessmentRow assessment;
    VerdictRow verdict;
    BK_ASSIGN(const int after_bracket, read_row(*rows, summary.bracket));
    BK_ASSIGN(const int after_assessment, read_row(*rows, assessment, after_bracket));
    BK_ASSIGN(const int after_verdict, read_row(*rows, verdict, after_assessment));
    if (assessment.id != 0) summary.assessment = std::move(assessment);
    if (verdict.id != 0) summary.verdict = std::move(verdict);
    RowReader counts(*rows, after_verdict);
    counts("boots_done", summary.boots_done);
    counts("gates_passed", summary.gates_passed);
    counts("gates_asked", summary.gates_asked);
    counts("signed_state", summary.signed_state);
    out.push_back(std::move(summary));
  }
}

template <class Row>
Result<std::optional<Row>> one_row(Connection& connection, const std::string& table, RowId id) {
  BK_ASSIGN(auto rows, select_rows<Row>(connection, "t", table + " t WHERE t.id = ?1", {id}));
  if (rows.empty()) return std::optional<Row>();
  return std::optional<Row>(std::move(rows.front()));
}

Result<std::vector<GateRow>> gates_where(Connection& connection, const std::string& tail, RowId parameter) {
  BK_ASSIGN(auto gates, select_rows<GateRow>(connection, "g", tail, {parameter}));
  const std::string sql = "SELECT " + column_list<GateQuestionRow>("q", false) +
                          " FROM gate_question q WHERE q.gate_id = ?1 ORDER BY q.position";
  for (GateRow& gate : gates) {
    BK_ASSIGN(const auto rows, connection.query(sql, {gate.id}));
    for (;;) {
      BK_ASSIGN(const bool more, rows->next());
      if (!more) break;
      RowReader reader(*rows);
      visit_columns(reader, gate.questions.emplace_back());
    }
  }
  return gates;
}

/// Metric points of the boots that `condition` names (aliases: o boot, l leg, s sample, m sample_metric).
Result<std::vector<MetricPoint>> points_where(Connection& connection, const std::string& condition,
                                              const std::vector<Cell>& parameters) {
  BK_ASSIGN(
      const auto rows,
      connection.query("SELECT o.id, s.id, o.position, s.position, o.uid, o.arm, o.state, l.name, s.cell, m.name, "
                       "s.concurrency, s.ok, m.value, m.value_reason, s.accept_raw, s.accept_k_eff FROM boot o "
                       "JOIN leg l ON l.boot_id = o.id JOIN sample s ON s.leg_id = l.id "
                       "JOIN sample_metric m ON m.sample_id = s.id WHERE s.warmup = 0 AND " +
                           condition + " ORDER BY o.position, o.attempt, o.id, l.id, s.id, m.name",
                       parameters));
  std::vector<MetricPoint> out;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return out;
    MetricPoint p;
    RowReader v(*rows);
    v("", p.boot_id), v("", p.sample_id), v("", p.boot_position), v("", p.sample_position), v("", p.boot_uid);
    v("", p.arm), v("", p.boot_state), v("", p.leg), v("", p.cell), v("", p.metric), v("", p.concurrency);
    v("", p.sample_ok), v("", p.value), v("", p.accept_raw), v("", p.accept_k_eff);
    out.push_back(std::move(p));
  }
}

/// A base boot that is done, with what history needs of it; nothing when there is no such one, or none with the metric.
Result<std::optional<HistoryBoot>> history_boot_where(Connection& connection, const std::string& condition,
                                                      const Cell& parameter, const std::string& metric,
                                                      const std::string& cell) {
  BK_ASSIGN(auto boots,
            select_rows<BootRow>(connection, "o", "boot o WHERE o.arm = 'base' AND o.state = 'done' AND " + condition,
                                 {parameter}));
  if (boots.empty()) return std::optional<HistoryBoot>();
  HistoryBoot out;
  out.boot = std::move(boots.front());
  BK_ASSIGN(out.points,
            points_where(connection, "o.id = ?1 AND m.name = ?2 AND s.cell = ?3", {out.boot.id, metric, cell}));
  if (out.points.empty()) return std::optional<HistoryBoot>();
  BK_ASSIGN(const Cell fingerprint,
            query_cell(connection, "SELECT fingerprint FROM host WHERE id = ?1", {out.boot.host_id.value_or(0)}));
  BK_ASSIGN(const Cell bracket,
            query_cell(connection, "SELECT uid FROM bracket WHERE id = ?1", {out.boot.bracket_id.value_or(0)}));
  if (const auto* text = std::get_if<std::string>(&fingerprint)) out.host_fingerprint = *text;
  if (const auto* text = std::get_if<std::string>(&bracket)) out.bracket_uid = *text;
  return std::optional(std::move(out));
}

}  // namespace

Result<std::vector<BracketSummary>> Database::list_brackets() { return summaries(*connection_, "", {}); }

Result<std::vector<BracketSummary>> Database::list_brackets_briefly() { return summaries(*connection_, "", {}, true); }

Result<BracketSummary> Database::bracket(std::string_view uid_or_prefix) {
  const std::string prefix(uid_or_prefix);
  if (prefix.size() < 4) {
    return fail(Errc::kUsage, "a bracket is named by at least 4 characters of its id: '" + prefix + "'", where_);
  }
  BK_ASSIGN(auto found, summaries(*connection_, "WHERE substr(b.uid, 1, length(?1)) = ?1", {prefix}));
  if (found.empty()) {
    return fail(Errc::kUsage, "no bracket is named '" + prefix + "'; `bracket list` shows what there is", where_);
  }
  if (found.size() > 1) {
    return fail(Errc::kUsage, fmt::format("{} brackets are named '{}…'; give more of the id", found.size(), prefix),
                where_);
  }
  return std::move(found.front());
}

Result<std::string> Database::bracket_uid(RowId bracket) {
  BK_ASSIGN(const Cell uid, query_cell(*connection_, "SELECT uid FROM bracket WHERE id = ?1", {bracket}));
  const auto* text = std::get_if<std::string>(&uid);
  if (text == nullptr) return fail(Errc::kUsage, fmt::format("no bracket has the id {}", bracket), where_);
  return *text;
}

Result<BracketSummary> Database::bracket_by_id(RowId bracket) {
  BK_ASSIGN(auto found, summaries(*connection_, "WHERE b.id = ?1", {bracket}));
  if (found.empty()) return fail(Errc::kUsage, fmt::format("no bracket has the id {}", bracket), where_);
  return std::move(found.front());
}

Result<std::vector<BracketSummary>> Database::family_members(RowId family) {
  return summaries(*connection_, "WHERE b.family_id = ?1", {family});
}

Result<PlanRow> Database::plan(RowId plan) {
  BK_ASSIGN(auto found, one_row<PlanRow>(*connection_, "plan", plan));
  if (!found) return fail(Errc::kUsage, fmt::format("no plan has the id {}", plan), where_);
  return std::move(*found);
}

Result<std::vector<BootRow>> Database::boots(RowId bracket) {
  return select_rows<BootRow>(
      *connection_, "o", std::string("boot o WHERE ") + kItsBoots + " ORDER BY o.position, o.attempt, o.id", {bracket});
}

Result<std::vector<BootRow>> Database::boots_briefly(std::optional<RowId> bracket) {
  static const std::string kColumns = brief_boot_columns();
  const OwnerCondition own = owned_by("o.bracket_id", bracket);
  BK_ASSIGN(const auto rows, connection_->query("SELECT " + kColumns + " FROM boot o WHERE " + own.sql +
                                                    " ORDER BY o.position, o.attempt, o.id",
                                                own.parameters));
  std::vector<BootRow> out;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return out;
    BK_TRY(read_row(*rows, out.emplace_back()));
  }
}

Result<std::vector<ProofRow>> Database::proofs(RowId bracket) {
  return select_rows<ProofRow>(*connection_, "p",
                               std::string("proof p JOIN boot o ON o.id = p.boot_id WHERE ") + kItsBoots +
                                   " ORDER BY o.position, o.attempt, p.id",
                               {bracket});
}

Result<std::vector<LegRow>> Database::legs(RowId boot) {
  return select_rows<LegRow>(*connection_, "l", "leg l WHERE l.boot_id = ?1 ORDER BY l.id", {boot});
}

Result<std::vector<SampleRow>> Database::samples(RowId leg) {
  BK_ASSIGN(auto samples,
            select_rows<SampleRow>(*connection_, "s", "sample s WHERE s.leg_id = ?1 ORDER BY s.id", {leg}));
  for (SampleRow& sample : samples) {
    BK_ASSIGN(const auto rows, connection_->query("SELECT name, value, value_reason FROM sample_metric "
                                                  "WHERE sample_id = ?1",
                                                  {sample.id}));
    for (;;) {
      BK_ASSIGN(const bool more, rows->next());
      if (!more) break;
      RowReader reader(*rows);
      std::string name;
      reader("name", name);
      reader("value", sample.metrics[name]);
    }
  }
  return samples;
}

Result<std::vector<RequestRow>> Database::requests(RowId sample) {
  return select_rows<RequestRow>(*connection_, "r", "request r WHERE r.sample_id = ?1 ORDER BY r.position", {sample});
}

Result<std::vector<GateRow>> Database::gates(RowId bracket) {
  return gates_where(*connection_,
                     std::string("gate g JOIN leg l ON l.id = g.leg_id JOIN boot o ON o.id = l.boot_id WHERE ") +
                         kItsBoots + " ORDER BY o.position, o.attempt, g.id",
                     bracket);
}

Result<std::vector<GateRow>> Database::leg_gates(RowId leg) {
  return gates_where(*connection_, "gate g WHERE g.leg_id = ?1 ORDER BY g.id", leg);
}

Result<std::vector<RequestRow>> Database::gate_requests(RowId gate) {
  return select_rows<RequestRow>(*connection_, "r", "request r WHERE r.gate_id = ?1 ORDER BY r.position", {gate});
}

Result<std::vector<AssessmentRow>> Database::assessments(RowId bracket) {
  return select_rows<AssessmentRow>(
      *connection_, "a", "assessment a WHERE a.bracket_id = ?1 ORDER BY a.created_wall_ns, a.uid", {bracket});
}

Result<std::vector<AssessmentRow>> Database::replaced_assessments() {
  BK_ASSIGN(const auto rows,
            connection_->query("SELECT " + assessment_columns(true) +
                                   " FROM assessment a WHERE EXISTS (SELECT 1 FROM assessment n WHERE n.bracket_id = "
                                   "a.bracket_id AND (n.created_wall_ns > a.created_wall_ns OR (n.created_wall_ns = "
                                   "a.created_wall_ns AND n.uid > a.uid))) "
                                   "ORDER BY a.bracket_id, a.created_wall_ns, a.uid",
                               {}));
  std::vector<AssessmentRow> out;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return out;
    BK_TRY(read_row(*rows, out.emplace_back()));
  }
}

Result<std::vector<VerdictRow>> Database::verdicts(RowId bracket) {
  return select_rows<VerdictRow>(*connection_, "v",
                                 "verdict v WHERE v.bracket_id = ?1 ORDER BY v.created_wall_ns, v.uid", {bracket});
}

Result<std::vector<NoteRow>> Database::notes() {
  return select_rows<NoteRow>(*connection_, "n", "note n ORDER BY n.created_wall_ns, n.uid", {});
}

Result<std::optional<CalibrationRow>> Database::newest_calibration() {
  BK_ASSIGN(auto rows, select_rows<CalibrationRow>(
                           *connection_, "c", "calibration c ORDER BY c.created_wall_ns DESC, c.uid DESC LIMIT 1", {}));
  if (rows.empty()) return std::optional<CalibrationRow>();
  return std::optional<CalibrationRow>(std::move(rows.front()));
}

Result<std::vector<std::pair<RowId, GateRow>>> Database::boot_gates(std::optional<RowId> bracket) {
  static const std::string kColumns = column_list<GateRow>("g");
  const OwnerCondition own = owned_by("o.bracket_id", bracket);
  BK_ASSIGN(const auto rows,
            connection_->query("SELECT l.boot_id, " + kColumns +
                                   " FROM boot o JOIN leg l ON l.boot_id = o.id JOIN gate g ON g.leg_id = l.id WHERE " +
                                   own.sql + " ORDER BY o.position, o.attempt, g.finished_wall_ns, g.id",
                               own.parameters));
  std::vector<std::pair<RowId, GateRow>> out;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return out;
    auto& [boot, gate] = out.emplace_back();
    RowReader v(*rows);
    v("", boot);
    BK_TRY(read_row(*rows, gate, 1));
  }
}

Result<ProofTally> Database::proof_tally(RowId bracket, const std::string& knob) {
  // Of a combined arm, whose knobs are separated by commas, every one is judged.
  static const std::string kJudged = "(',' || ?2 || ',') LIKE ('%,' || p.knob || ',%')";
  static const std::string kSql = "SELECT count(CASE WHEN " + kJudged +
                                  " AND p.state = 'held' THEN 1 END), count(CASE WHEN " + kJudged +
                                  " THEN 1 END), count(CASE WHEN p.state = 'held' THEN 1 END), count(*) "
                                  "FROM boot o JOIN proof p ON p.boot_id = o.id WHERE " +
                                  kItsBoots;
  BK_ASSIGN(const auto rows, connection_->query(kSql, {bracket, knob}));
  BK_TRY(rows->next());
  ProofTally tally;
  RowReader v(*rows);
  v("", tally.held), v("", tally.all), v("", tally.others_held), v("", tally.others);
  tally.others_held -= tally.held, tally.others -= tally.all;
  return tally;
}

Result<std::optional<HostRow>> Database::host(RowId host) { return one_row<HostRow>(*connection_, "host", host); }
Result<std::optional<RunRow>> Database::run(RowId run) { return one_row<RunRow>(*connection_, "run", run); }

Result<std::vector<MetricPoint>> Database::metric_points(RowId bracket) {
  return points_where(*connection_, kItsBoots, {bracket});
}

Result<std::vector<MetricPoint>> Database::metric_points(RowId bracket, const std::string& metric,
                                                         const std::string& cell) {
  return points_where(*connection_, std::string(kItsBoots) + " AND m.name = ?2 AND s.cell = ?3",
                      {bracket, metric, cell});
}

Result<std::optional<HistoryBoot>> Database::history_boot(const std::string& uid, const std::string& metric,
                                                          const std::string& cell) {
  return history_boot_where(*connection_, "o.uid = ?1", uid, metric, cell);
}

Result<std::vector<HistoryBoot>> Database::base_history(const HistoryScope& scope) {
  // Ids alone first: rows are long, and few of them are wanted.
  std::vector<RowId> ids;
  {
    std::string sql =
        "SELECT id FROM boot WHERE profile = ?1 AND arm = 'base' AND state = 'done' AND "
        "(bracket_id IS NULL OR bracket_id <> ?2)";
    std::vector<Cell> parameters = {scope.profile, scope.except_bracket.value_or(0)};  // no row has the id 0
    if (scope.ended_before) sql += " AND ended_wall_ns < ?3", parameters.emplace_back(*scope.ended_before);
    BK_ASSIGN(const auto rows, connection_->query(sql + " ORDER BY started_wall_ns DESC, uid DESC", parameters));
    for (;;) {
      BK_ASSIGN(const bool more, rows->next());
      if (!more) break;
      ids.push_back(std::get<std::int64_t>(rows->cell(0)));
    }
  }
  std::vector<HistoryBoot> out;
  for (const RowId id : ids) {
    if (out.size() == scope.most) break;
    BK_ASSIGN(auto boot, history_boot_where(*connection_, "o.id = ?1", id, scope.metric, scope.cell));
    if (boot) out.push_back(std::move(*boot));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

Result<std::vector<BracketSummary>> Database::rejected(const std::string& profile, const std::string& knob,
                                                       const std::string& cand_value) {
  return summaries(*connection_,
                   "WHERE b.profile = ?1 AND b.knob = ?2 AND b.cand_value = ?3 AND v.word = 'rejected' AND NOT EXISTS "
                   "(SELECT 1 FROM verdict w JOIN bracket c ON c.id = w.bracket_id WHERE c.profile = b.profile "
                   "AND c.knob = b.knob AND c.cand_value = b.cand_value AND w.word = 'adopted' "
                   "AND w.created_wall_ns > v.created_wall_ns)",
                   {profile, knob, cand_value});
}

}  // namespace bk::store
