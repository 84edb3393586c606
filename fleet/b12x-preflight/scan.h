#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "model.h"

namespace bk::b12x {

/// One model folder as it lies on disk.
struct Model {
  std::string name;  ///< path below the scanned folder; "." for the folder itself
  Result<Shape> shape = fail(Errc::kInternal, "not read");
  Seen seen;  ///< in its safetensors files
};

/// The folders at or below `root` (three levels) that hold a config.json, by name. Each shape is read from config.json
/// and, where safetensors files lie beside it, compared with their headers: kMismatch when they disagree.
/// kIo when `root` is no folder.
[[nodiscard]] Result<std::vector<Model>> scan(const std::filesystem::path& root);

}  // namespace bk::b12x
