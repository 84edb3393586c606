#include "store/travel_tables.h"

#include <algorithm>

#include "store/row_io.h"

namespace bk::store {
namespace {

template <class Row>
std::vector<std::string> columns_of() {
  RowWriter writer;
  const Row row;
  visit_columns(writer, row);
  return writer.names();
}

/// Without the columns that name the parent and, where a part is ordered by it, its position: both travel as its place.
std::vector<std::string> request_columns() {
  std::vector<std::string> columns = columns_of<RequestRow>();
  std::erase_if(columns, [](const std::string& name) { return name == "sample_id" || name == "gate_id"; });
  return columns;
}

/// A request without events has no such column; with one it has two.
PartTable requests(const char* parent_column) {
  return {"request", parent_column, "position", request_columns(), true};
}

std::vector<TravelTable> make_tables() {
  // A comparison travels with its matrix or sweep, whose base boots it shares; other comparisons stay.
  const std::string both = "IN (?1, (SELECT family_id FROM bracket WHERE id = ?1))";
  const std::string boots = "(SELECT id FROM boot WHERE bracket_id " + both + ")";
  const std::string legs = "(SELECT l.id FROM leg l JOIN boot o ON o.id = l.boot_id WHERE o.bracket_id " + both + ")";
  const Reference host{"host_id", "host", "fingerprint"}, bracket{"bracket_id", "bracket", "uid"};
  const Reference boot{"boot_id", "boot", "uid"}, leg{"leg_id", "leg", "uid"};
  std::vector<std::string> host_columns = columns_of<HostRow>();
  std::erase(host_columns, "uid");  // two databases may have named one machine differently
  std::vector<TravelTable> t;
  t.push_back({"host",
               "fingerprint",
               host_columns,
               {},
               "t.id IN (SELECT host_id FROM boot WHERE bracket_id " + both +
                   " UNION SELECT host_id FROM run WHERE bracket_id " + both + ")",
               "fingerprint",
               false,
               {}});
  t.push_back({"plan",
               "uid",
               columns_of<PlanRow>(),
               {},
               "t.id IN (SELECT plan_id FROM bracket WHERE id " + both + ")",
               "created_wall_ns, uid",
               false,
               {}});
  t.push_back({"bracket",
               "uid",
               columns_of<BracketRow>(),
               {{"plan_id", "plan", "uid"}, {"family_id", "bracket", "uid", true}},
               "t.id " + both,
               "created_wall_ns, uid",
               true,
               {}});
  t.push_back(
      {"run", "uid", columns_of<RunRow>(), {host, bracket}, "t.bracket_id " + both, "started_wall_ns, uid", true, {}});
  t.push_back({"boot",
               "uid",
               columns_of<BootRow>(),
               {bracket, host},
               "t.bracket_id " + both,
               "started_wall_ns, position, attempt, uid",
               true,
               {}});
  t.push_back(
      {"proof", "uid", columns_of<ProofRow>(), {boot}, "t.boot_id IN " + boots, "checked_wall_ns, id", false, {}});
  t.push_back({"leg",
               "uid",
               columns_of<LegRow>(),
               {{"run_id", "run", "uid"}, boot},
               "t.boot_id IN " + boots,
               "started_wall_ns, id",
               true,
               {}});
  t.push_back({"sample",
               "uid",
               columns_of<SampleRow>(),
               {leg},
               "t.leg_id IN " + legs,
               "started_wall_ns, id",
               false,
               {{"sample_metric", "sample_id", "name", {"name", "value", "value_reason"}}, requests("sample_id")}});
  t.push_back({"gate",
               "uid",
               columns_of<GateRow>(),
               {leg},
               "t.leg_id IN " + legs,
               "finished_wall_ns, id",
               false,
               {{"gate_question", "gate_id", "position", columns_of<GateQuestionRow>()}, requests("gate_id")}});
  t.push_back({"assessment",
               "uid",
               columns_of<AssessmentRow>(),
               {bracket},
               "t.bracket_id " + both,
               "created_wall_ns, uid",
               false,
               {}});
  t.push_back({"verdict",
               "uid",
               columns_of<VerdictRow>(),
               {bracket, {"assessment_id", "assessment", "uid"}},
               "t.bracket_id " + both,
               "created_wall_ns, uid",
               false,
               {}});
  t.push_back({"note",
               "uid",
               columns_of<NoteRow>(),
               {},
               "t.subject_kind = 'bracket' AND t.subject = (SELECT uid FROM bracket WHERE id = ?1)",
               "created_wall_ns, uid",
               false,
               {}});
  t.push_back({"calibration", "uid", columns_of<CalibrationRow>(), {}, "1 = 0", "created_wall_ns, uid", false, {}});
  return t;
}

}  // namespace

const std::vector<TravelTable>& travel_tables() {
  static const std::vector<TravelTable> kTables = make_tables();
  return kTables;
}

const TravelTable* travel_table(std::string_view name) {
  const auto& tables = travel_tables();
  const auto it = std::find_if(tables.begin(), tables.end(), [&](const auto& table) { return table.name == name; });
  return it == tables.end() ? nullptr : &*it;
}

const Reference* reference_of(const TravelTable& table, std::string_view column) {
  const auto it = std::find_if(table.references.begin(), table.references.end(),
                               [&](const auto& reference) { return reference.column == column; });
  return it == table.references.end() ? nullptr : &*it;
}

std::string travel_name(const TravelTable& table, const std::string& column) {
  return reference_of(table, column) == nullptr ? column : column.substr(0, column.size() - 3);
}

}  // namespace bk::store
