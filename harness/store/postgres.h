#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "store/connection.h"
#include "store/store.h"

namespace bk::store {

/// Opens a PostgreSQL database (15 or newer) through libpq and brings its schema up to date; writers take their turns
/// by an advisory lock. kUsage for a URL that carries a password (it would stand in logs: PGPASSWORD or ~/.pgpass hold
/// it), kIo when the server cannot be reached or refuses, kRefused when the schema is newer.
[[nodiscard]] Result<std::unique_ptr<Connection>> open_postgres(const std::string& url, OpenMode mode);

/// A migration, written for SQLite, as PostgreSQL takes it: the types, and no STRICT tables, which it always has. Texts
/// sort by their bytes, as in SQLite.
[[nodiscard]] std::string postgres_schema(std::string sql);

}  // namespace bk::store
