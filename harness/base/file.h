#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bk {

/// The whole file as bytes. kIo naming the path and the system's reason otherwise.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);
/// The file's last bytes, at most `most`: a log may be larger than memory. kIo as read_file().
[[nodiscard]] Result<std::string> read_tail(const std::filesystem::path& path, std::size_t most);
/// Writes a temporary file beside `path`, syncs it and renames it: readers see the old bytes or the new, never a part.
/// A device or a pipe is written to as it stands.
[[nodiscard]] Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes);
/// Appends and flushes; creates the file.
[[nodiscard]] Status append_file(const std::filesystem::path& path, std::string_view bytes);
[[nodiscard]] Status make_directories(const std::filesystem::path& path);
[[nodiscard]] Result<std::string> sha256_file(const std::filesystem::path& path);

/// A fresh directory under TMPDIR, removed with all it holds when the object goes.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace bk
