#include "store/gate_history.h"

#include "store/row_io.h"
#include "store/sqlite.h"

namespace bk::store {

Result<std::vector<GateRow>> earlier_gates(const Database& database, const GateHistory& of) {
  BK_ASSIGN(const auto connection, open_sqlite(database.where(), OpenMode::kReadOnly));
  BK_ASSIGN(auto gates, select_rows<GateRow>(
                            *connection, "g",
                            "gate g JOIN leg l ON l.id = g.leg_id JOIN boot o ON o.id = l.boot_id "
                            "WHERE g.name = ?1 AND g.verdict <> 'fail' AND o.state = 'done' AND o.profile = ?2 AND "
                            "o.profile_hash = ?3 AND o.knobs_json = ?4 AND o.model = ?5 AND o.engine_version = ?6 "
                            "ORDER BY g.finished_wall_ns DESC, g.uid DESC LIMIT ?7",
                            {of.gate, of.profile, of.profile_hash, of.knobs_json, of.model, of.engine_version,
                             std::int64_t{of.limit}}));
  const std::string questions = "SELECT " + column_list<GateQuestionRow>("q", false) +
                                " FROM gate_question q WHERE q.gate_id = ?1 ORDER BY q.position";
  for (GateRow& gate : gates) {
    BK_ASSIGN(const auto rows, connection->query(questions, {gate.id}));
    for (;;) {
      BK_ASSIGN(const bool more, rows->next());
      if (!more) break;
      RowReader reader(*rows);
      visit_columns(reader, gate.questions.emplace_back());
      BK_TRY(reader.status());
    }
  }
  return gates;
}

}  // namespace bk::store
