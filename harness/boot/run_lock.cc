#include "boot/run_lock.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

/// Moves a stale lock away whose engine ended with its holder. False when another lock stands there by now.
bool remove_ended(const fs::path& file, const fs::path& aside) {
  const std::string seen = read_file(file).value_or("");
  const RunLockHolder holder = read_holder(seen);
  if (!holder.engine_ends_with_holder || !holder.is_stale()) return false;
  std::error_code error;
  fs::rename(file, aside, error);
  if (error) return false;
  const bool same = read_file(aside).value_or("") == seen;
  if (!same) (void)link(aside.c_str(), file.c_str());
  fs::remove(aside, error);
  return same;
}

Error held(const fs::path& file) {
  const RunLockHolder holder = read_holder(read_file(file).value_or(""));
  if (!holder.is_stale()) {
    return {Errc::kEnvironment, "this node is taken by " + holder.sentence() + ": one lane runs at a time",
            file.string()};
  }
  return {Errc::kEnvironment,
          fmt::format("a stale run lock of {}, whose process is gone: check that no engine of it is left, then remove "
                      "this file",
                      holder.sentence()),
          file.string()};
}

}  // namespace

// Field 22 of /proc/<pid>/stat; the second field may hold blanks and ends with the last ')'.
std::string process_start(int pid) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return {};
  constexpr std::size_t kStart = 19;  // counted from the field after the name
  const auto fields = split(std::string_view(stat).substr(std::min(end + 2, stat.size())), ' ');
  return fields.size() > kStart ? std::string(fields[kStart]) : std::string();
}

std::string user_name() {
  const passwd* user = getpwuid(geteuid());
  return user == nullptr ? std::to_string(geteuid()) : user->pw_name;
}

std::string host_name() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "unknown";
}

fs::path run_lock_dir() {
  const char* named = std::getenv("BK_LOCK_DIR");
  return named == nullptr || *named == '\0' ? kRunLockDir : named;
}

fs::path run_lock_file(const fs::path& dir) { return dir / "lane"; }

std::string RunLockHolder::text() const {
  return fmt::format("lane={}\nuser={}\nhost={}\npid={}\nstart={}\nsince={}\n{}", lane, user, host, pid, start, since,
                     engine_ends_with_holder ? "engine=ends_with_holder\n" : "");
}

RunLockHolder RunLockHolder::here(const std::string& lane, bool engine_ends_with_holder) {
  return {lane,
          user_name(),
          host_name(),
          getpid(),
          process_start(getpid()),
          format_utc(wall_now()),
          engine_ends_with_holder};
}

std::string RunLockHolder::sentence() const {
  if (lane.empty()) return "an unnamed holder";
  return fmt::format("lane {} of {}@{}, pid {}, since {}", lane, user, host, pid, since);
}

bool RunLockHolder::is_stale() const { return host == host_name() && (start.empty() || process_start(pid) != start); }

RunLockHolder read_holder(std::string_view text) {
  RunLockHolder holder;
  for (const std::string_view line : split_lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, equals);
    const std::string value = manifest::printable(line.substr(equals + 1));
    if (key == "lane") holder.lane = value;
    if (key == "user") holder.user = value;
    if (key == "host") holder.host = value;
    if (key == "pid") holder.pid = static_cast<int>(parse_int(value).value_or(0));
    if (key == "start") holder.start = value;
    if (key == "since") holder.since = value;
    if (key == "engine") holder.engine_ends_with_holder = value == "ends_with_holder";
  }
  return holder;
}

Result<std::unique_ptr<RunLock>> RunLock::take(const fs::path& dir, const std::string& lane,
                                               bool engine_ends_with_holder) {
  BK_TRY(make_directories(dir));
  std::error_code shared;
  fs::permissions(dir, fs::perms::all | fs::perms::sticky_bit, shared);  // other users' lanes take the same lock
  const fs::path file = run_lock_file(dir);
  const RunLockHolder mine = RunLockHolder::here(lane, engine_ends_with_holder);
  // A link is made with its whole text or not at all, and only where no other is.
  const fs::path fresh = dir / fmt::format(".lane.{}", getpid());
  BK_TRY(write_file_atomic(fresh, mine.text()));
  int linked = link(fresh.c_str(), file.c_str());
  int reason = errno;
  if (linked != 0 && reason == EEXIST && remove_ended(file, dir / fmt::format(".ended.{}", getpid()))) {
    linked = link(fresh.c_str(), file.c_str());
    reason = errno;
  }
  std::error_code ignored;
  fs::remove(fresh, ignored);
  if (linked == 0) return std::unique_ptr<RunLock>(new RunLock(file, mine.text()));
  if (reason == EEXIST) return fail(held(file));
  return fail(Errc::kIo, std::strerror(reason), file.string());
}

RunLock::~RunLock() {
  if (read_file(file_).value_or("") != text_) return;  // removed by hand and taken by another
  std::error_code ignored;
  fs::remove(file_, ignored);
}

}  // namespace bk::boot
