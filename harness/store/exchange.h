#pragma once
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/connection.h"
#include "store/store.h"

namespace bk::store {

/// One row as it travels between databases: no number of one database in it. A column that names another row carries
/// that row's uid (a host's fingerprint) and has lost its "_id"; rows without a uid travel as parts of their parent.
struct TravelRow {
  std::string table;
  std::vector<std::pair<std::string, Cell>> columns;
  std::vector<TravelRow> parts;
};

/// What export_rows() gives.
struct ExportScope {
  enum class Kind {
    kWhole,    ///< every row
    kBracket,  ///< one bracket with all that hangs on it, its notes too
    kGeneral,  ///< notes about anything but a bracket, and calibrations
  };
  Kind kind = Kind::kWhole;
  RowId bracket = 0;
  bool requests = true;  ///< with the text and the token times of every request
};

/// Rows in an order in which each follows what it names, the same for the same rows.
[[nodiscard]] Status export_rows(Database& database, const ExportScope& scope,
                                 const std::function<Status(const TravelRow&)>& sink);

/// Another text whenever another program has committed something to the database.
[[nodiscard]] Result<std::string> change_mark(Database& database);

/// Rows that came in: new ones, ones that stood there, ones that had gone on since (a run that has ended now).
struct ImportTally {
  std::int64_t added = 0, known = 0, updated = 0, brackets = 0;  ///< brackets: new ones
};

/// Takes rows from another database, in one transaction: all of them, or on an error none. A row that is known by its
/// uid and says the same is left; a run, bracket, boot or leg that ended later replaces the one that stands.
class Importer {
 public:
  /// The database has to outlive it.
  static Result<Importer> begin(Database& database);
  Importer(Importer&&) noexcept;
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;
  Importer& operator=(Importer&&) = delete;
  ~Importer();

  /// kUsage: a table or column that this version does not know, a row that names one that is not there. kMismatch: a
  /// row that stands here with other content.
  Status add(const TravelRow& row);
  Result<ImportTally> finish();

 private:
  struct State;
  explicit Importer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Every row of one database into another; from itself, nothing new.
[[nodiscard]] Result<ImportTally> merge(Database& into, Database& from);

}  // namespace bk::store
