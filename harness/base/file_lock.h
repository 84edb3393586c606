#pragma once
#include <filesystem>
#include <memory>

#include "base/result.h"

namespace bk {

/// A lock of this machine, held by a file: the kernel drops it with the process, however that ends. The file says who
/// holds it and since when.
class FileLock {
 public:
  /// kRefused naming the holder ("pid 12 since 2026-…") when it is held; kIo when the file cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<FileLock>> take(const std::filesystem::path& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  FileLock(int fd, std::filesystem::path file) : fd_(fd), file_(std::move(file)) {}
  int fd_;
  std::filesystem::path file_;
};

}  // namespace bk
