#include "store/store.h"

#include <filesystem>

#include "store/figures.h"
#include "store/postgres.h"
#include "store/row_io.h"
#include "store/sqlite.h"

namespace bk::store {
namespace {

template <class Row>
Result<RowId> insert_row(Connection& connection, const std::string& table, Row row) {
  if constexpr (requires { row.uid; }) {
    if (row.uid.empty()) row.uid = new_uid();
  }
  RowWriter writer;
  visit_columns(writer, row);
  return insert_cells(connection, table, writer);
}

template <class Row>
Result<RowId> add_alone(Connection& connection, const std::string& table, const Row& row) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(connection));
  BK_ASSIGN(const RowId id, insert_row(connection, table, row));
  BK_TRY(transaction.commit());
  return id;
}

/// One UPDATE … WHERE id = ?1 that has to find its row.
Status update_row(Connection& connection, const std::string& table, const std::string& assignments,
                  const std::vector<Cell>& parameters) {
  const std::int64_t id = std::get<std::int64_t>(parameters.front());
  BK_ASSIGN(
      const Cell found,
      query_cell(connection, "UPDATE " + table + " SET " + assignments + " WHERE id = ?1 RETURNING id", parameters));
  if (std::holds_alternative<std::monostate>(found)) {
    return fail(Errc::kUsage, fmt::format("no {} has the id {}", table, id));
  }
  return {};
}

Status update_alone(Connection& connection, const std::string& table, const std::string& assignments,
                    const std::vector<Cell>& parameters) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(connection));
  BK_TRY(update_row(connection, table, assignments, parameters));
  return transaction.commit();
}

Status insert_requests(Connection& connection, const std::vector<RequestRow>& requests, std::optional<RowId> sample,
                       std::optional<RowId> gate) {
  std::int64_t position = 0;
  for (RequestRow request : requests) {
    request.sample_id = sample;
    request.gate_id = gate;
    request.position = position++;
    BK_TRY(insert_row(connection, "request", std::move(request)));
  }
  return {};
}

}  // namespace

Snapshot::Snapshot(std::unique_ptr<Transaction> reading) : reading_(std::move(reading)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Result<Snapshot> Database::snapshot() {
  BK_ASSIGN(Transaction reading, Transaction::begin_reading(*connection_));
  return Snapshot(std::make_unique<Transaction>(std::move(reading)));
}

Database::Database(std::string where, std::unique_ptr<Connection> connection)
    : where_(std::move(where)), connection_(std::move(connection)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& where, OpenMode mode) {
  if (where.starts_with("postgresql://") || where.starts_with("postgres://")) {
    BK_ASSIGN(auto connection, open_postgres(where, mode));
    return Database(where, std::move(connection));
  }
  if (where.empty()) return fail(Errc::kUsage, "no database named; give --db FILE");
  BK_ASSIGN(auto connection, open_sqlite(where, mode));
  return Database(where, std::move(connection));
}

Result<RowId> Database::add_host(const HostRow& host) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  BK_ASSIGN(const Cell known,
            query_cell(*connection_, "SELECT id FROM host WHERE fingerprint = ?1", {host.fingerprint}));
  if (const auto* id = std::get_if<std::int64_t>(&known)) return *id;
  BK_ASSIGN(const RowId id, insert_row(*connection_, "host", host));
  BK_TRY(transaction.commit());
  return id;
}

Result<RowId> Database::begin_run(const RunRow& run) { return add_alone(*connection_, "run", run); }

Status Database::end_run(RowId run, const std::string& state, int exit_code, const std::string& error) {
  return update_alone(*connection_, "run", "state = ?2, exit_code = ?3, error = ?4, ended_wall_ns = ?5",
                      {run, state, std::int64_t{exit_code}, error, wall_now()});
}

Status Database::set_run_bracket(RowId run, RowId bracket) {
  return update_alone(*connection_, "run", "bracket_id = ?2", {run, bracket});
}

Result<RowId> Database::create_bracket(const PlanRow& plan, const BracketRow& bracket) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  BracketRow row = bracket;
  BK_ASSIGN(row.plan_id, insert_row(*connection_, "plan", plan));
  BK_ASSIGN(const RowId id, insert_row(*connection_, "bracket", std::move(row)));
  BK_TRY(transaction.commit());
  return id;
}

Result<std::vector<RowId>> Database::create_family(const std::vector<std::pair<PlanRow, BracketRow>>& brackets) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  std::vector<RowId> ids;
  for (const auto& [plan, bracket] : brackets) {
    BracketRow row = bracket;
    if (!ids.empty()) row.family_id = ids.front();
    BK_ASSIGN(row.plan_id, insert_row(*connection_, "plan", plan));
    BK_ASSIGN(const RowId id, insert_row(*connection_, "bracket", std::move(row)));
    ids.push_back(id);
  }
  BK_TRY(transaction.commit());
  return ids;
}

Status Database::set_bracket_state(RowId bracket, const std::string& state, const std::string& reason) {
  const bool ended = state != "planned" && state != "running";
  return update_alone(*connection_, "bracket", "state = ?2, reason = ?3, ended_wall_ns = ?4",
                      {bracket, state, reason, ended ? Cell(wall_now()) : Cell()});
}

Result<RowId> Database::begin_boot(const BootRow& boot) { return add_alone(*connection_, "boot", boot); }

Status Database::update_boot(const BootRow& boot) {
  RowWriter writer;
  visit_columns(writer, boot);
  std::string assignments;
  std::vector<Cell> parameters = {boot.id};
  for (std::size_t i = 0; i < writer.names().size(); ++i) {
    const std::string& name = writer.names()[i];
    if (name == "uid" || name == "bracket_id") continue;
    parameters.push_back(writer.cells()[i]);
    assignments += fmt::format("{}{} = ?{}", assignments.empty() ? "" : ", ", name, parameters.size());
  }
  return update_alone(*connection_, "boot", assignments, parameters);
}

Status Database::end_boot(RowId boot, const std::string& state, const std::string& reason) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  BK_TRY(update_row(*connection_, "boot", "state = ?2, reason = ?3, ended_wall_ns = ?4",
                    {boot, state, reason, wall_now()}));
  BK_TRY(keep_figures(*connection_, boot));
  return transaction.commit();
}

Result<RowId> Database::add_proof(const ProofRow& proof) { return add_alone(*connection_, "proof", proof); }

Result<RowId> Database::begin_leg(const LegRow& leg) { return add_alone(*connection_, "leg", leg); }

Status Database::end_leg(RowId leg, const std::string& state, const std::string& reason) {
  return update_alone(*connection_, "leg", "state = ?2, reason = ?3, ended_wall_ns = ?4",
                      {leg, state, reason, wall_now()});
}

Result<RowId> Database::add_sample(const SampleRow& sample) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  BK_ASSIGN(const RowId id, insert_row(*connection_, "sample", sample));
  BK_TRY(forget_figures(*connection_, sample.leg_id));
  for (const auto& [name, value] : sample.metrics) {
    RowWriter writer;
    writer.put("sample_id", id);
    writer.put("name", name);
    writer("value", value);
    BK_TRY(insert_cells(*connection_, "sample_metric", writer, false));
  }
  BK_TRY(insert_requests(*connection_, sample.requests, id, std::nullopt));
  BK_TRY(transaction.commit());
  return id;
}

Result<RowId> Database::add_gate(const GateRow& gate) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  BK_ASSIGN(const RowId id, insert_row(*connection_, "gate", gate));
  std::int64_t position = 0;
  for (GateQuestionRow question : gate.questions) {
    question.position = position++;
    RowWriter writer;
    writer.put("gate_id", id);
    visit_columns(writer, question);
    BK_TRY(insert_cells(*connection_, "gate_question", writer, false));
  }
  BK_TRY(insert_requests(*connection_, gate.requests, std::nullopt, id));
  BK_TRY(transaction.commit());
  return id;
}

Result<RowId> Database::add_assessment(const AssessmentRow& assessment) {
  return add_alone(*connection_, "assessment", assessment);
}

Result<bool> Database::replace_assessment(RowId replaced, const AssessmentRow& assessment) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  BK_ASSIGN(
      const Cell newest,
      query_cell(*connection_,
                 "SELECT id FROM assessment WHERE bracket_id = ?1 ORDER BY created_wall_ns DESC, uid DESC LIMIT 1",
                 {assessment.bracket_id}));
  const auto* id = std::get_if<std::int64_t>(&newest);
  if (id == nullptr || *id != replaced) return false;
  BK_TRY(insert_row(*connection_, "assessment", assessment));
  BK_TRY(transaction.commit());
  return true;
}

Result<RowId> Database::add_verdict(const VerdictRow& verdict) { return add_alone(*connection_, "verdict", verdict); }
Result<RowId> Database::add_note(const NoteRow& note) { return add_alone(*connection_, "note", note); }
Result<RowId> Database::add_calibration(const CalibrationRow& calibration) {
  return add_alone(*connection_, "calibration", calibration);
}

Result<std::vector<std::string>> Database::problems() {
  BK_ASSIGN(auto found, connection_->problems());
  if (!found.empty()) return found;  // what cannot be read cannot be compared
  BK_ASSIGN(const auto stale, stale_figures());
  for (const std::string& boot : stale) {
    found.push_back("the figures of boot " + short_uid(boot) + " are not what its samples say");
  }
  return found;
}

Status Database::backup(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return fail(Errc::kIo, "a backup does not replace a file; name another one or move it away", path);
  }
  const std::string part = path + ".part";
  std::filesystem::remove(part, error);
  BK_TRY(connection_->copy_to(part));
  std::filesystem::rename(part, path, error);
  if (error) return fail(Errc::kIo, "cannot put the backup under its name: " + error.message(), path);
  return {};
}

}  // namespace bk::store
