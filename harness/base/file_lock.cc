#include "base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace bk {
namespace {

/// The file may have been removed by its last holder between opening and locking: then the lock is nobody's.
bool is_still_named(int fd, const std::filesystem::path& file) {
  struct stat held {
  }, named{};
  return fstat(fd, &held) == 0 && stat(file.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

}  // namespace

Result<std::unique_ptr<FileLock>> FileLock::take(const std::filesystem::path& file) {
  while (true) {
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return fail(Errc::kIo, std::strerror(errno), file.string());
    std::unique_ptr<FileLock> lock(new FileLock(fd, {}));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const std::string holder(trim(read_file(file).value_or("")));
      return fail(Errc::kRefused, holder.empty() ? "another process" : holder, file.string());
    }
    if (!is_still_named(fd, file)) continue;
    lock->file_ = file;
    const std::string holder = fmt::format("pid {} since {}\n", getpid(), format_utc(wall_now()));
    if (ftruncate(fd, 0) != 0 || pwrite(fd, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size()))
      return fail(Errc::kIo, std::strerror(errno), file.string());
    return lock;
  }
}

FileLock::~FileLock() {
  if (!file_.empty()) unlink(file_.c_str());
  close(fd_);
}

}  // namespace bk
