#pragma once
#include <filesystem>

#include "base/result.h"

namespace bk::boot {

/// Puts the calling process, which may have one thread only, into a mount namespace of its own in which `package` shows
/// the files below `tree` over its own: a read-only overlayfs, so nothing on disk changes and every write through the
/// mount fails. Only this process and its children see it; it goes with the last of them. Without root a user namespace
/// is entered first, in which the user keeps its id. A death signal that was asked for stays asked for.
/// kEnvironment naming the system call that failed and why; kUsage for a path that mount options cannot carry.
[[nodiscard]] Status enter_overlay(const std::filesystem::path& tree, const std::filesystem::path& package);

}  // namespace bk::boot
