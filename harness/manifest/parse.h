#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::manifest {

/// What a manifest row does to its target.
enum class RowKind {
  kReplace,  ///< mounts the source over a file that must have the pinned bytes
  kAdd,      ///< adds the source where nothing may be ("absent")
  kVerify,   ///< source "-": mounts nothing, the file must have the pinned bytes
};

/// One row of a manifest, its target below the package root.
struct Row {
  int line = 0;  ///< 1-based, in its manifest
  RowKind kind = RowKind::kAdd;
  std::string source;    ///< bare file name; empty for kVerify
  std::string target;    ///< relative to the package root, checked by path_fault()
  std::string preimage;  ///< 64 lower-case hex digits; empty for kAdd

  [[nodiscard]] bool mounts() const { return kind != RowKind::kVerify; }
};

/// Reads a manifest: UTF-8 text, LF line ends (the last one may lack it); empty lines and lines that start with '#' are
/// skipped; every other line is `source TAB target TAB contract`, the contract 64 lower-case hex digits or "absent". A
/// source "-" is a verify-only row. Absolute targets have to lie below `root` (empty: none is allowed); duplicates are
/// found after that, also those that differ in case alone, and targets that lie below another row's file.
/// kUsage with "path:row" as the place for every way in which the text breaks this, or when it has no row at all.
[[nodiscard]] Result<std::vector<Row>> parse_manifest(std::string_view text, const std::string& path,
                                                      std::string_view root);

/// Reads a module's `requires` file: one module a line, '#' comments. kUsage with "path:row".
[[nodiscard]] Result<std::vector<std::string>> parse_requires(std::string_view text, const std::string& path);

}  // namespace bk::manifest
