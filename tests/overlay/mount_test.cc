#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "boot/arm.h"
#include "boot/launcher.h"
#include "lane_fixture.h"
#include "support/sim_engine.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<boot::Booted>> launch(const std::string& profile_path, const fs::path& log,
                                             const boot::KnobMap& knobs = {}, const boot::Environment& caller = {}) {
  BK_ASSIGN(const auto profile, boot::load_profile(profile_path, ".", caller));
  BK_ASSIGN(const auto arm, boot::make_arm(profile, "base", knobs));
  boot::LaunchOptions options;
  options.log_file = log;
  options.bin_dir = BK_BIN_DIR;
  return boot::make_process_launcher()->boot(profile, arm, options);
}

/// errno of opening for writing; 0 when it can be opened.
int write_error(const fs::path& path, int flags) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
  if (file < 0) return errno;
  close(file);
  return 0;
}

TEST_CASE("an engine sees the overlay over its package, read-only, and nobody else does") {
  const LaneFixture lane;
  const auto before = files_below(lane.package);
  const auto booted = launch(lane.profile(), lane.root / "log");
  INFO((booted ? std::string() : booted.error().text()));
  REQUIRE(booted);
  const boot::BootFacts& facts = (*booted)->facts();
  const fs::path seen = fmt::format("/proc/{}/root{}", facts.pid, lane.package.string());
  CHECK(read_file(seen / "pkg/a.py").value_or("none") == "def f():\n    return 2\n");
  CHECK(read_file(seen / "pkg/b.py").value_or("none") == "b\n");
  CHECK(read_file(seen / "pkg/sub/new.py").value_or("none") == "n = 1\n");
  CHECK(write_error(seen / "pkg/a.py", 0) == EROFS);
  CHECK(write_error(seen / "pkg/other.py", O_CREAT) == EROFS);
  CHECK(write_error(seen / "pkg/sub/new.py", 0) == EROFS);
  CHECK(files_below(lane.package) == before);
  CHECK(facts.fingerprint["overlay"]["modules"].items().size() == 2);
  CHECK(facts.fingerprint["overlay"]["digest"].as_string()->size() == 64);
  CHECK(read_file(facts.log_path)->starts_with("overlay: 2 files lie read-only over " + lane.package.string() + "\n"));
  CHECK((*booted)->stop());
  CHECK(files_below(lane.package) == before);
}

TEST_CASE("a drifted preimage stops the boot before anything is started or stopped") {
  const LaneFixture lane;
  test::SimEngine old_engine;
  lane.write("site-packages/pkg/a.py", "def f():\n    return 3\n");
  const auto booted = launch(lane.profile(), lane.root / "log");
  REQUIRE_FALSE(booted);
  CHECK(booted.error().code == Errc::kMismatch);
  CHECK(booted.error().what.find("pkg/a.py: SHA-256 is") != std::string::npos);
  CHECK(booted.error().where == "module one, row 1");
  CHECK_FALSE(fs::exists(lane.root / "log"));
  CHECK_FALSE(old_engine.process().poll());
  lane.write("site-packages/pkg/a.py", lane.old_text);
  lane.write("site-packages/pkg/sub/new.py", "already\n");
  CHECK(launch(lane.profile(), lane.root / "log").error().what.find("must be absent") != std::string::npos);
}

TEST_CASE("a laid out file that reads differently through the mount stops the program") {
  const LaneFixture lane;
  lane.write("laid/tree/pkg/a.py", "tampered\n");
  lane.write("laid/targets", sha256_hex("meant\n") + "  pkg/a.py\n");
  const Captured ran = test::run_program({"overlay", "enter", "--laid-out", (lane.root / "laid").string(), "--package",
                                          lane.package.string(), "--", "/bin/echo", "--version"});
  CHECK(ran.exit.code == 1);
  CHECK(ran.out.empty());
  CHECK(ran.err.find("read through the mount, pkg/a.py has SHA-256 " + sha256_hex("tampered\n")) != std::string::npos);
  lane.write("laid/tree/pkg/a.py", "meant\n");
  const Captured good =
      test::run_program({"overlay", "enter", "--laid-out", (lane.root / "laid").string(), "--package",
                         lane.package.string(), "--", "/bin/cat", (lane.package / "pkg/a.py").string()});
  CHECK(good.exit.code == 0);
  CHECK(good.out == "meant\n");
}

/// The real llama.cpp server: a module of new files only changes the default of its thread polling.
TEST_CASE("the overlay changes a default of the real llama.cpp server", "[.engine]") {
  const std::string profile = std::string(BK_SOURCE_DIR) + "/profiles/llama-cpp-overlay.env";
  const fs::path package = fs::path(BK_SOURCE_DIR) / ".engines/venv/lib/python3.11/site-packages";
  if (!fs::exists(package / "xllamacpp")) {
    std::puts("skipped: the llama.cpp engine is not installed, see ./dev engines");
    return;
  }
  const auto before = files_below(package / "xllamacpp");
  for (const char* poll : {"0", "70"}) {
    const TempDir dir;
    const auto booted = launch(profile, dir.path() / "log", {{"POLL", poll}});
    INFO((booted ? std::string() : booted.error().text()));
    REQUIRE(booted);
    const boot::BootFacts& facts = (*booted)->facts();
    const std::string log = read_file(facts.log_path).value_or("");
    CHECK(log.find(fmt::format("llama_poll: default poll 50 -> {}\n", poll)) != std::string::npos);
    CHECK(facts.confirmed.at("POLL") == poll);
    const fs::path seen = fmt::format("/proc/{}/root{}", facts.pid, package.string());
    CHECK(fs::exists(seen / "llama_poll.py"));
    CHECK_FALSE(fs::exists(package / "llama_poll.py"));
    CHECK(write_error(seen / "xllamacpp/__init__.py", 0) == EROFS);
    CHECK((*booted)->stop());
  }
  CHECK(files_below(package / "xllamacpp") == before);
}

}  // namespace
}  // namespace bk::overlay
