#include "lane_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace bk::supervisor {

namespace fs = std::filesystem;

Result<std::unique_ptr<LaneLock>> LaneLock::take(const fs::path& dir, const std::string& lane) {
  BK_TRY(make_directories(dir));
  std::string name = "supervisor-" + lane;
  for (char& c : name) c = c == '/' ? '_' : c;
  const fs::path file = dir / name;
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return fail(Errc::kIo, std::strerror(errno), file.string());
  auto lock = std::unique_ptr<LaneLock>(new LaneLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder(trim(read_file(file).value_or("")));
    return fail(Errc::kEnvironment,
                fmt::format("lane {} is watched already by {}: stop that one first", lane,
                            holder.empty() ? "another supervisor" : holder),
                file.string());
  }
  const std::string holder = fmt::format("pid {} since {}\n", getpid(), format_utc(wall_now()));
  if (ftruncate(fd, 0) != 0 || pwrite(fd, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size()))
    return fail(Errc::kIo, std::strerror(errno), file.string());
  return lock;
}

LaneLock::~LaneLock() { close(fd_); }

}  // namespace bk::supervisor
