#include "boot/run_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "boot/launcher.h"
#include "boot/shared_lanes.h"
#include "support/sim_engine.h"

using namespace bk;
using namespace bk::boot;

namespace {

Result<std::unique_ptr<Booted>> launch(Launcher& launcher, const std::string& text, const TempDir& dir) {
  auto profile = parse_profile(text, (dir.path() / "profiles/lane.env").string(), {});
  INFO((profile ? std::string() : profile.error().text()));
  REQUIRE(profile);
  BK_ASSIGN(const Arm arm, make_arm(*profile, "base", {}));
  LaunchOptions options;
  options.log_file = dir.path() / "engine.log";
  options.bin_dir = BK_BIN_DIR;
  return launcher.boot(*profile, arm, options);
}

const std::string kSim = "COMMAND=\"{BIN}/sim-engine --port {PORT}\"\n";

}  // namespace

TEST_CASE("a run lock names its holder, goes with it, and is taken again") {
  const TempDir dir;
  {
    const auto mine = RunLock::take(dir.path(), "glm53");
    REQUIRE(mine);
    const RunLockHolder holder = read_holder(read_file(run_lock_file(dir.path())).value());
    CHECK(holder.lane == "glm53");
    CHECK(holder.user == user_name());
    CHECK(holder.host == host_name());
    CHECK(holder.pid == getpid());
    CHECK_FALSE(holder.start.empty());
    CHECK(holder.since.ends_with("Z"));
    const auto second = RunLock::take(dir.path(), "dsv4");
    REQUIRE_FALSE(second);
    CHECK(second.error().code == Errc::kEnvironment);
    CHECK_THAT(second.error().what, Catch::Contains("this node is taken by lane glm53 of ") &&
                                        Catch::Contains("pid " + std::to_string(getpid())) &&
                                        Catch::Contains("since " + holder.since));
  }
  CHECK_FALSE(std::filesystem::exists(run_lock_file(dir.path())));
  CHECK(RunLock::take(dir.path(), "dsv4"));
}

TEST_CASE("a stale run lock is named and not stolen") {
  const TempDir dir;
  RunLockHolder gone{"glm53", "alice", host_name(), getpid(), "1", "2026-11-30T00:00:00Z", false};
  // This process has the number, but not the start time: the number was used again.
  const auto refuse = [&](const std::string& said) {
    REQUIRE(write_file_atomic(run_lock_file(dir.path()), gone.text()));
    const auto taken = RunLock::take(dir.path(), "dsv4");
    REQUIRE_FALSE(taken);
    CHECK_THAT(taken.error().what, Catch::Contains(said) && Catch::Contains("lane glm53 of alice@"));
    CHECK(read_file(run_lock_file(dir.path())).value() == gone.text());
  };
  refuse("a stale run lock of ");
  gone.pid = 0;
  refuse("a stale run lock of ");
  gone.host = "another-machine";  // nothing can be said of its processes from here
  refuse("this node is taken by ");
  REQUIRE(write_file_atomic(run_lock_file(dir.path()), "not written by us"));
  CHECK_THAT(RunLock::take(dir.path(), "dsv4").error().what, Catch::Contains("an unnamed holder"));
}

TEST_CASE("a stale run lock whose engine ended with its holder gives way") {
  const TempDir dir;
  const RunLockHolder gone{"llama", "alice", host_name(), getpid(), "1", "2026-11-30T00:00:00Z", true};
  REQUIRE(write_file_atomic(run_lock_file(dir.path()), gone.text()));
  const auto taken = RunLock::take(dir.path(), "llama", true);
  REQUIRE(taken);
  const RunLockHolder holder = read_holder(read_file(run_lock_file(dir.path())).value());
  CHECK(holder.pid == getpid());
  CHECK(holder.engine_ends_with_holder);
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
  // One that lives is never moved.
  CHECK_THAT(RunLock::take(dir.path(), "other", true).error().what,
             Catch::Contains("this node is taken by lane llama"));
}

TEST_CASE("an exclusive lane is booted once at a time; the lock lasts as long as the launcher") {
  const TempDir dir, locks;
  auto launcher = make_launcher(locks.path());
  auto first = launch(*launcher, kSim, dir);
  INFO((first ? std::string() : first.error().text()));
  REQUIRE(first);
  CHECK_FALSE((*first)->facts().fingerprint["page_cache"].as_string().value_or("").empty());
  const auto other = make_launcher(locks.path());
  CHECK_THAT(launch(*other, kSim, dir).error().what, Catch::Contains("this node is taken by lane lane of "));
  CHECK((*first)->alive());
  CHECK(launch(*other, kSim + "EXCLUSIVE=no\n", dir));
  CHECK((*first)->stop());
  CHECK_FALSE(launch(*other, kSim, dir));  // between two boots of one bracket nobody else gets in
  CHECK(launch(*launcher, kSim, dir));
  launcher.reset();
  CHECK(launch(*other, kSim, dir));
}

TEST_CASE("lanes that may run side by side name each other, and a killed one is forgotten") {
  const TempDir dir;
  CHECK(other_lanes(dir.path()).empty());
  const auto mine = LaneMark::put(dir.path(), "sim");
  REQUIRE(mine);
  CHECK(other_lanes(dir.path()).empty());
  int said[2];
  REQUIRE(pipe(said) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto theirs = LaneMark::put(dir.path(), "llama-cpp");
    const std::vector<std::string> seen = other_lanes(dir.path());
    const bool ok = theirs && seen.size() == 1 && seen.front().starts_with("lane sim of ");
    (void)!write(said[1], ok ? "y" : "n", 1);
    pause();
  }
  REQUIRE(child > 0);
  char answer = 0;
  REQUIRE(read(said[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  const auto others = other_lanes(dir.path());
  REQUIRE(others.size() == 1);
  CHECK_THAT(others.front(),
             Catch::StartsWith("lane llama-cpp of ") && Catch::Contains("pid " + std::to_string(child) + ", since 20"));
  REQUIRE(kill(child, SIGKILL) == 0);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(other_lanes(dir.path()).empty());
  close(said[0]);
  close(said[1]);
}
