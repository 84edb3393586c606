#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "store/connection.h"
#include "store/store.h"

namespace bk::store {

/// Opens a SQLite file and brings its schema up to date: WAL, full synchronisation, foreign keys, waiting up to 30 s
/// for other writers. kIo when it cannot be opened or is not a results database, kRefused when its schema is newer, in
/// one line each.
[[nodiscard]] Result<std::unique_ptr<Connection>> open_sqlite(const std::string& path, OpenMode mode);

}  // namespace bk::store
