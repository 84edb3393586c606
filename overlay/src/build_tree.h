#pragma once
#include <filesystem>

#include "manifest/compose.h"

namespace bk::overlay {

/// Writes the composition as `<build_dir>/<profile>/`: manifest.tsv, SHA256SUMS and every source, 0644. All or nothing:
/// the new folder is made beside the old one and takes its place in one step. kIo; kRefused when the place holds
/// something that no composition made.
[[nodiscard]] Result<std::filesystem::path> write_composed(const manifest::Composition& composition,
                                                           const std::filesystem::path& build_dir);

}  // namespace bk::overlay
