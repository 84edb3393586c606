#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bk::manifest {

/// Why a path below a package root may not be used; nothing when it may. Allowed: segments of A-Z a-z 0-9 . _ -,
/// between single slashes; no empty, "." or ".." segment, none longer than 255 bytes, 1,024 bytes in all.
[[nodiscard]] std::optional<std::string> path_fault(std::string_view path);

/// Why a source may not be called so; nothing when it may: a bare file name of A-Z a-z 0-9 . _ -, no leading dot, and
/// none of the names that a module or a composed tree needs itself (manifest.tsv, requires, SHA256SUMS).
[[nodiscard]] std::optional<std::string> source_fault(std::string_view name);

/// Why a module may not be called so; nothing when it may: 1 to 64 of A-Z a-z 0-9 _ -, no leading '-'.
[[nodiscard]] std::optional<std::string> module_name_fault(std::string_view name);

/// Why a package root may not be used; nothing when it may: empty, or an absolute path that path_fault() allows.
[[nodiscard]] std::optional<std::string> root_fault(std::string_view root);

/// The target below the package root: a relative one as it is, an absolute one without the root. kUsage when it is
/// absolute and not below the root, or path_fault() finds something.
[[nodiscard]] Result<std::string> below_root(std::string_view target, std::string_view root);

/// Bytes of a file as one short line for a message: controls and bytes that are not ASCII are written as \xNN.
[[nodiscard]] std::string printable(std::string_view bytes);

}  // namespace bk::manifest
