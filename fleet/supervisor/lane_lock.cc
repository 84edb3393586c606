#include "lane_lock.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"

namespace bk::supervisor {

Result<std::unique_ptr<FileLock>> take_lane(const std::filesystem::path& dir, const std::string& lane) {
  BK_TRY(make_directories(dir));
  std::string name = "supervisor-" + lane;
  std::replace(name.begin(), name.end(), '/', '_');
  auto lock = FileLock::take(dir / name);
  if (!lock && lock.error().code == Errc::kRefused) {
    return fail(Errc::kEnvironment,
                fmt::format("lane {} is watched already by {}: stop that one first", lane, lock.error().what),
                lock.error().where);
  }
  return lock;
}

}  // namespace bk::supervisor
