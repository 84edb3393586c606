#pragma once
#include <string>

#include "lane.h"
#include "prober.h"

namespace bk::supervisor {

/// Keeps what a fault leaves behind, before it is stopped: <state>/forensics/<stamp>/ with the reason, the last 400 log
/// lines of every rank, the process's state, the metrics page, memory, and host and GPU state. The newest kKept folders
/// stay. Gives the folder; a part that cannot be read is a file that says why. kIo when nothing can be written.
[[nodiscard]] Result<std::filesystem::path> collect_forensics(const Lane& lane, Prober& prober,
                                                              const std::string& reason);

}  // namespace bk::supervisor
