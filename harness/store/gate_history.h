#pragma once
#include <string>
#include <vector>

#include "store/store.h"

namespace bk::store {

/// Boots of one configuration: what has to be the same for their outputs to be comparable.
struct GateHistory {
  std::string gate;  ///< its name
  std::string profile, profile_hash, knobs_json, model, engine_version;
  int limit = 5;  ///< newest so many
};

/// That gate in finished boots of that configuration, with its questions, newest first; those that failed are left out.
/// Opens a connection of its own to read. kIo as Database::open().
[[nodiscard]] Result<std::vector<GateRow>> earlier_gates(const Database& database, const GateHistory& of);

}  // namespace bk::store
