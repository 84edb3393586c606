#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/rows.h"

namespace bk::store {

class Connection;
class Transaction;

/// While it lives, everything that its database reads is of one moment, whatever others write; the database writes
/// nothing meanwhile, and outlives it.
class Snapshot {
 public:
  explicit Snapshot(std::unique_ptr<Transaction> reading);
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot();

 private:
  std::unique_ptr<Transaction> reading_;
};

/// A fresh row name: 26 characters of Crockford's base 32, 130 random bits. Its first 8 are what people type.
[[nodiscard]] std::string new_uid();
/// The first 8 characters.
[[nodiscard]] std::string short_uid(std::string_view uid);

/// This machine as HostRow, with its fingerprint.
[[nodiscard]] HostRow this_host();

enum class OpenMode {
  kReadWrite,  ///< creates the file and brings an older schema up to date
  kReadOnly,   ///< the file must exist and carry this schema
};

/// results.db, or a team's PostgreSQL server. Every add_* and begin_* is one transaction, on disk when it returns (it
/// survives kill -9 and, as far as the disk keeps its word, power loss). Two processes may write at once: each waits
/// for the other up to 30 s. Not for use by two threads at once. Errors: kIo (full disk, unreadable, not a database,
/// busy beyond the limit), kRefused (a schema newer than this program), kUsage (an id that names nothing or too much).
class Database {
 public:
  /// A path, or postgresql://user@host/database.
  static Result<Database> open(const std::string& where, OpenMode mode = OpenMode::kReadWrite);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  [[nodiscard]] const std::string& where() const { return where_; }

  // Writing. Each returns the new row's id; an empty uid is filled.
  Result<RowId> add_host(const HostRow& host);  ///< the id that stands when the fingerprint is known
  Result<RowId> begin_run(const RunRow& run);
  Status end_run(RowId run, const std::string& state, int exit_code, const std::string& error = {});
  /// Ties a run to its bracket once that exists.
  Status set_run_bracket(RowId run, RowId bracket);

  /// Plan and bracket in one transaction; `bracket.plan_id` is filled.
  Result<RowId> create_bracket(const PlanRow& plan, const BracketRow& bracket);
  /// A matrix or sweep with its comparisons, all in one transaction; the first is the whole, and the others get its id
  /// as family_id. shape: one id each, in order.
  Result<std::vector<RowId>> create_family(const std::vector<std::pair<PlanRow, BracketRow>>& brackets);
  Status set_bracket_state(RowId bracket, const std::string& state, const std::string& reason = {});

  Result<RowId> begin_boot(const BootRow& boot);
  /// Writes what became known at readiness: every column of `boot` (by boot.id) except uid and bracket_id.
  Status update_boot(const BootRow& boot);
  Status end_boot(RowId boot, const std::string& state, const std::string& reason = {});
  Result<RowId> add_proof(const ProofRow& proof);

  Result<RowId> begin_leg(const LegRow& leg);
  Status end_leg(RowId leg, const std::string& state, const std::string& reason = {});
  Result<RowId> add_sample(const SampleRow& sample);  ///< with its metrics and requests
  Result<RowId> add_gate(const GateRow& gate);        ///< with its questions and requests

  Result<RowId> add_assessment(const AssessmentRow& assessment);
  /// Adds it when `replaced` is still the bracket's newest one; false: another program was here first, nothing is
  /// added.
  Result<bool> replace_assessment(RowId replaced, const AssessmentRow& assessment);
  Result<RowId> add_verdict(const VerdictRow& verdict);
  Result<RowId> add_note(const NoteRow& note);
  Result<RowId> add_calibration(const CalibrationRow& calibration);

  // Reading. Lists are in the order of their happening.
  Result<Snapshot> snapshot();
  Result<std::vector<BracketSummary>> list_brackets();
  /// The same without the knobs and without the assessment's detail: a tenth of the memory.
  Result<std::vector<BracketSummary>> list_brackets_briefly();
  /// By uid or by a prefix of at least 4 characters that names one bracket. kUsage otherwise.
  Result<BracketSummary> bracket(std::string_view uid_or_prefix);
  Result<std::string> bracket_uid(RowId bracket);       ///< kUsage when there is none
  Result<BracketSummary> bracket_by_id(RowId bracket);  ///< kUsage when there is none
  /// The comparisons of a matrix or sweep.
  Result<std::vector<BracketSummary>> family_members(RowId family);
  Result<PlanRow> plan(RowId plan);
  /// Here and below, the boots of a comparison are its own and the base boots of its matrix or sweep.
  Result<std::vector<BootRow>> boots(RowId bracket);
  /// Of the JSON columns the knobs alone; with no bracket named, the boots that belong to none.
  Result<std::vector<BootRow>> boots_briefly(std::optional<RowId> bracket);
  Result<std::vector<ProofRow>> proofs(RowId bracket);
  Result<std::vector<LegRow>> legs(RowId boot);
  Result<std::vector<SampleRow>> samples(RowId leg);  ///< with metrics, without requests
  Result<std::vector<RequestRow>> requests(RowId sample);
  Result<std::vector<GateRow>> gates(RowId bracket);  ///< with questions, without requests
  Result<std::vector<GateRow>> leg_gates(RowId leg);
  Result<std::vector<RequestRow>> gate_requests(RowId gate);
  Result<std::vector<AssessmentRow>> assessments(RowId bracket);
  /// Every assessment in whose place a newer one stands, without its detail, by bracket, oldest first.
  Result<std::vector<AssessmentRow>> replaced_assessments();
  Result<std::vector<VerdictRow>> verdicts(RowId bracket);
  Result<std::vector<NoteRow>> notes();
  Result<std::optional<CalibrationRow>> newest_calibration();
  Result<std::optional<HostRow>> host(RowId host);
  Result<std::optional<RunRow>> run(RowId run);

  /// Every metric of every sample of a bracket, warm-ups excluded, by boot position, leg, cell, repetition.
  /// Boots that are void, failed or interrupted are included; their state is in the point.
  Result<std::vector<MetricPoint>> metric_points(RowId bracket);
  /// The same of one metric in one cell.
  Result<std::vector<MetricPoint>> metric_points(RowId bracket, const std::string& metric, const std::string& cell);
  /// What the samples of each boot of a bracket (of none, when none is named) say, by boot, cell and name: read, not
  /// computed, for boots that ended.
  Result<std::vector<BootFigure>> boot_figures(std::optional<RowId> bracket);
  /// The gates of every boot of a bracket (of none, when none is named) without their questions, with the boot of each,
  /// in the order of boots.
  Result<std::vector<std::pair<RowId, GateRow>>> boot_gates(std::optional<RowId> bracket);
  Result<ProofTally> proof_tally(RowId bracket, const std::string& knob);
  /// Base boots that are done and have the metric in the cell, oldest first.
  Result<std::vector<HistoryBoot>> base_history(const HistoryScope& scope);
  /// One of them by its uid; nothing when it is not here, is no base boot that is done, or lacks the metric.
  Result<std::optional<HistoryBoot>> history_boot(const std::string& uid, const std::string& metric,
                                                  const std::string& cell);
  /// Brackets of a profile, knob and candidate value whose newest verdict is "rejected", unless a later bracket of the
  /// same was adopted: the guard against proposing again.
  Result<std::vector<BracketSummary>> rejected(const std::string& profile, const std::string& knob,
                                               const std::string& cand_value);

  /// What the database itself finds wrong with its pages, its foreign keys, and figures that are not what the samples
  /// say: one line each, empty when all is well.
  Result<std::vector<std::string>> problems();
  /// A copy of the database as it stands, while others write. kIo when the file is there already.
  Status backup(const std::string& path);

  /// For the files of store/ that move whole tables.
  [[nodiscard]] Connection& connection() { return *connection_; }

 private:
  Result<std::vector<std::string>> stale_figures();
  Database(std::string where, std::unique_ptr<Connection> connection);
  std::string where_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace bk::store
