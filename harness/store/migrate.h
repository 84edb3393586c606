#pragma once
#include <string>

#include "base/result.h"
#include "store/connection.h"

namespace bk::store {

/// The schema that this program writes: the number of the last file in schema/.
[[nodiscard]] int schema_version();

/// Refuses a SQLite file that another program made (kIo) and a schema newer than this program (kRefused), before
/// anything of it is changed.
[[nodiscard]] Status check_identity(Connection& connection, const std::string& path);
/// Runs the migrations that the file lacks, all in one transaction. Two programs may try at once.
[[nodiscard]] Status migrate(Connection& connection, const std::string& path);
/// kRefused unless the schema is this program's: for files opened read-only.
[[nodiscard]] Status require_current_schema(Connection& connection, const std::string& path);

}  // namespace bk::store
