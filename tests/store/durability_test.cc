#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/file.h"
#include "rows_fixture.h"

using namespace bk;
using namespace bk::store;

namespace {

SampleRow small_sample(RowId leg, std::int64_t position) {
  SampleRow sample = fixture::full_sample(leg);
  sample.uid = "", sample.position = position;
  return sample;
}

RowId new_leg(const std::string& path) {
  Database db = Database::open(path).value();
  return db.begin_leg({0, "", {}, {}, "decode", "", "", "", 1, {}, "running", ""}).value();
}

/// Adds samples until one fails, `count` are in, or the process is killed; after each, its id goes to `fd`.
/// A first word of -1 ends the ids: a length and the error's text follow.
void write_samples(const std::string& path, RowId leg, int count, int fd) {
  auto db = Database::open(path);
  if (!db) _exit(9);
  for (int i = 0; i < count; ++i) {
    const auto id = db->add_sample(small_sample(leg, i));
    if (!id) {
      const std::string text = std::string(to_string(id.error().code)) + ": " + id.error().text();
      const RowId mark[2] = {-1, static_cast<RowId>(text.size())};
      if (write(fd, mark, sizeof mark) < 0 || write(fd, text.data(), text.size()) < 0) _exit(9);
      _exit(1);
    }
    if (write(fd, &*id, sizeof *id) != sizeof *id) _exit(9);
  }
  _exit(0);
}

struct Writer {
  pid_t pid = -1;
  int fd = -1;
  std::vector<RowId> ids;
  std::string error;

  /// Starts a child; `limit_bytes` bounds every file that it writes.
  Writer(const std::string& path, RowId leg, int count, rlim_t limit_bytes = RLIM_INFINITY) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid = fork();
    if (pid == 0) {
      close(ends[0]);
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{limit_bytes, limit_bytes};
      if (limit_bytes != RLIM_INFINITY && setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(9);
      write_samples(path, leg, count, ends[1]);
    }
    close(ends[1]);
    fd = ends[0];
  }
  /// Takes acknowledgements until `most` are in or the child is gone.
  void take(std::size_t most) {
    RowId id = 0;
    while (ids.size() < most && read(fd, &id, sizeof id) == sizeof id) {
      if (id >= 0) {
        ids.push_back(id);
        continue;
      }
      RowId length = 0;
      if (read(fd, &length, sizeof length) != sizeof length) return;
      error.resize(static_cast<std::size_t>(length));
      if (read(fd, error.data(), error.size()) != length) error = "cut";
      return;
    }
  }
  int finish() {
    int status = 0;
    waitpid(pid, &status, 0);
    close(fd);
    return status;
  }
};

/// Every acknowledged sample is there with its metrics and both requests.
void check_all_there(Database& db, RowId leg, const std::vector<RowId>& ids) {
  std::vector<RowId> found;
  const std::vector<SampleRow> samples = db.samples(leg).value();
  for (const SampleRow& sample : samples) {
    found.push_back(sample.id);
    CHECK(sample.metrics.size() == 2);
    CHECK(db.requests(sample.id).value().size() == 2);
  }
  for (const RowId id : ids) {
    INFO("sample " << id);
    CHECK(std::count(found.begin(), found.end(), id) == 1);
  }
}

}  // namespace

TEST_CASE("a writer killed at any moment loses no sample that it acknowledged") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  const RowId leg = new_leg(path);
  for (const std::size_t after : {1U, 7U, 30U}) {
    Writer writer(path, leg, 100'000);
    writer.take(after);
    kill(writer.pid, SIGKILL);
    writer.take(100'000);
    CHECK(WTERMSIG(writer.finish()) == SIGKILL);
    REQUIRE(writer.ids.size() >= after);
    Database db = Database::open(path).value();
    check_all_there(db, leg, writer.ids);
  }
}

TEST_CASE("two processes that write 200 samples each both finish") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  const RowId leg = new_leg(path);
  Writer a(path, leg, 200);
  Writer b(path, leg, 200);
  a.take(200);
  b.take(200);
  CHECK(a.finish() == 0);
  CHECK(b.finish() == 0);
  CHECK(a.error + b.error == "");
  Database db = Database::open(path).value();
  CHECK(db.samples(leg).value().size() == 400);
}

TEST_CASE("two processes may create the same database at once") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto db = Database::open(path);
      _exit(db && db->add_note({0, "", "ledger", "", "x", "y", 1}) ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(status == 0);
  }
  CHECK(Database::open(path).value().notes().value().size() == 4);
}

TEST_CASE("a file that may not grow gives one clear line and keeps what was committed") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  const RowId leg = new_leg(path);
  Writer writer(path, leg, 100'000, 400'000);
  writer.take(100'000);
  CHECK(WEXITSTATUS(writer.finish()) == 1);
  CHECK(writer.error.starts_with("io: the disk refused"));
  CHECK(writer.error.find('\n') == std::string::npos);
  REQUIRE(writer.ids.size() > 3);
  Database db = Database::open(path).value();
  check_all_there(db, leg, writer.ids);
  CHECK(db.add_sample(small_sample(leg, 1)));  // space is back: work goes on
}

TEST_CASE("a full disk gives one clear line and keeps what was committed", "[root]") {
  TempDir dir;
  if (mount("none", dir.path().c_str(), "tmpfs", 0, "size=700k") != 0) {
    WARN("no right to mount a small disk here; the file size limit above stands in");
    return;
  }
  const std::string path = dir.path() / "results.db";
  {
    const RowId leg = new_leg(path);
    Writer writer(path, leg, 100'000);
    writer.take(100'000);
    CHECK(WEXITSTATUS(writer.finish()) == 1);
    CHECK(writer.error.find("no space left for the database") != std::string::npos);
    CHECK(writer.ids.size() > 3);
    CHECK(mount("none", dir.path().c_str(), "tmpfs", MS_REMOUNT, "size=20m") == 0);
    Database db = Database::open(path).value();
    check_all_there(db, leg, writer.ids);
    CHECK(db.add_sample(small_sample(leg, 1)));
  }
  CHECK(umount(dir.path().c_str()) == 0);
}
