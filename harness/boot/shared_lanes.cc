#include "boot/shared_lanes.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/clock.h"
#include "base/file.h"
#include "boot/run_lock.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

fs::path marks_of(const fs::path& dir) { return dir / "lanes"; }

}  // namespace

Result<std::unique_ptr<LaneMark>> LaneMark::put(const fs::path& dir, const std::string& lane) {
  const fs::path marks = marks_of(dir);
  BK_TRY(make_directories(marks));
  std::error_code shared;
  fs::permissions(marks, fs::perms::all | fs::perms::sticky_bit, shared);
  const fs::path file = marks / std::to_string(getpid());
  BK_TRY(write_file_atomic(file, RunLockHolder::here(lane, false).text()));
  return std::unique_ptr<LaneMark>(new LaneMark(file));
}

LaneMark::~LaneMark() {
  std::error_code ignored;
  fs::remove(file_, ignored);
}

std::vector<std::string> other_lanes(const fs::path& dir) {
  std::vector<std::string> lanes;
  std::error_code none;
  for (fs::directory_iterator it(marks_of(dir), none), end; !none && it != end; it.increment(none)) {
    const RunLockHolder holder = read_holder(read_file(it->path()).value_or(""));
    if (holder.lane.empty() || holder.pid == getpid() || holder.is_stale()) continue;
    lanes.push_back(holder.sentence());
  }
  std::sort(lanes.begin(), lanes.end());
  return lanes;
}

}  // namespace bk::boot
