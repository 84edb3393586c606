#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::boot {

/// One KEY=VALUE of a profile, quotes and ${VAR} resolved.
struct Entry {
  std::string key;
  std::string value;
  std::vector<std::string> uses;  ///< keys that ${…} named
  int line = 0;                   ///< 1-based; the first of a continued line
};

/// The safe subset of shell assignments: no command runs and no variable from outside is seen. kUsage with "path:row"
/// for anything else: a doubled key names both rows.
[[nodiscard]] Result<std::vector<Entry>> read_entries(std::string_view text, const std::string& path);

/// "path:row", the place of an error.
[[nodiscard]] std::string place(const std::string& path, int line);

}  // namespace bk::boot
