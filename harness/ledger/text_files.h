#pragma once
#include <ostream>
#include <string>

#include "base/result.h"
#include "store/exchange.h"
#include "store/store.h"

namespace bk::ledger {

/// Every row of the database as JSON lines, the requests with them.
[[nodiscard]] Status export_jsonl(store::Database& database, std::ostream& out);
/// Every value of every measured sample as CSV, one value a row, with the bracket, boot and arm that it belongs to.
[[nodiscard]] Status export_csv(store::Database& database, std::ostream& out);

struct SignedFiles {
  int brackets = 0;  ///< signed ones
  int written = 0;   ///< files whose bytes changed
};
/// DIR/DATE-PROFILE-KNOB-ID.jsonl for each signed bracket, without its requests, and DIR/general.jsonl with what
/// belongs to none. Files that say the same are left as they are, and none is removed.
[[nodiscard]] Result<SignedFiles> export_signed(store::Database& database, const std::string& directory);

/// Takes a file into the database, whole or not at all: JSON lines as above, an older ledger's .tsv, or the .json of
/// `bracket calibrate --json`; of a directory every .jsonl in the order of their names. kUsage or kParse with
/// "FILE:LINE"; kMismatch when a row stands there with other content.
[[nodiscard]] Result<store::ImportTally> import_path(store::Database& database, const std::string& path);

}  // namespace bk::ledger
