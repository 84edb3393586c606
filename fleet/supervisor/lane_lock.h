#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "base/file_lock.h"

namespace bk::supervisor {

/// One supervisor for one lane of this machine, for as long as the value lives. `lane` names what is watched: its
/// address, or the profile where each boot takes a free port. kEnvironment naming the process that watches it already;
/// kIo when the folder cannot be written.
[[nodiscard]] Result<std::unique_ptr<FileLock>> take_lane(const std::filesystem::path& dir, const std::string& lane);

}  // namespace bk::supervisor
