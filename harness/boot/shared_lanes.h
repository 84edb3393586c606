#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace bk::boot {

/// Says on this machine that a program boots engines of a lane here, so that others that measure beside it can name it.
/// It hinders nobody: lanes that may run beside others hold no run lock. Goes with the object; a killed one's is
/// ignored.
class LaneMark {
 public:
  /// In `dir`, the run lock's folder. kIo when it cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<LaneMark>> put(const std::filesystem::path& dir, const std::string& lane);
  ~LaneMark();
  LaneMark(const LaneMark&) = delete;
  LaneMark& operator=(const LaneMark&) = delete;

 private:
  explicit LaneMark(std::filesystem::path file) : file_(std::move(file)) {}
  std::filesystem::path file_;
};

/// The lanes that other programs run on this machine now, one sentence each: lane, who, pid, since when. Sorted.
[[nodiscard]] std::vector<std::string> other_lanes(const std::filesystem::path& dir);

}  // namespace bk::boot
