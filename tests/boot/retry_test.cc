#include "boot/retry.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "boot/launcher.h"

using namespace bk;
using namespace bk::boot;

namespace {

struct Try {
  Result<std::unique_ptr<Booted>> booted;
  std::vector<std::string> stages;
  int attempts = 0;
};

/// An engine that says `line` and dies the first `failures` times, then serves.
Try boot_flaky(const std::string& line, int failures) {
  const TempDir dir;
  const std::string count = (dir.path() / "count").string();
  const std::string script =
      fmt::format("echo x >>{}; if [ $(wc -l <{}) -le {} ]; then echo \"{}\"; exit 1; fi; exec \"$0\" --port \"$1\"",
                  count, count, failures, line);
  REQUIRE(write_file_atomic(dir.path() / "engine.sh", script));
  const std::string text = fmt::format(
      "COMMAND=\"/bin/sh -c '. {}/engine.sh' {{BIN}}/sim-engine {{PORT}}\"\nEXCLUSIVE=no\n", dir.path().string());
  const auto profile = parse_profile(text, (dir.path() / "profiles/p.env").string(), {});
  INFO((profile ? std::string() : profile.error().text()));
  REQUIRE(profile);
  const auto arm = make_arm(*profile, "base", {});
  REQUIRE(arm);
  Try done{fail(Errc::kInternal, ""), {}, 0};
  LaunchOptions options;
  options.log_file = dir.path() / "engine.log";
  options.bin_dir = BK_BIN_DIR;
  options.progress = [&](const std::string& stage) { done.stages.push_back(stage); };
  done.booted = make_launcher(dir.path())->boot(*profile, *arm, options);
  const std::string lines = read_file(count).value_or("");
  done.attempts = static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
  return done;
}

}  // namespace

TEST_CASE("ranks out of step are worth one more try, which is recorded") {
  const std::string line = "DistStoreError: Timed out after 1801 seconds waiting for clients. 3/4 clients joined.";
  const Try done = boot_flaky(line, 1);
  INFO((done.booted ? std::string() : done.booted.error().text()));
  REQUIRE(done.booted);
  CHECK(done.attempts == 2);
  const Json& retried = (*done.booted)->facts().fingerprint["retried"];
  CHECK(retried["reason"].as_string() == line);
  CHECK_THAT(retried["first_error"].as_string().value_or(""), Catch::Contains("exit code 1"));
  CHECK(retried["first_attempt_s"].as_double().value_or(0) > 0);
  CHECK(std::find(done.stages.begin(), done.stages.end(), "booting once more: " + line) != done.stages.end());
  const Try twice = boot_flaky(line, 2);
  REQUIRE_FALSE(twice.booted);
  CHECK(twice.attempts == 2);
}

TEST_CASE("any other failure is told at once") {
  const Try done = boot_flaky("CUDA out of memory", 1);
  REQUIRE_FALSE(done.booted);
  CHECK(done.attempts == 1);
  const Try fine = boot_flaky("", 0);
  REQUIRE(fine.booted);
  CHECK((*fine.booted)->facts().fingerprint["retried"].is_null());
}

TEST_CASE("a reason to retry is a line of the log, and only for an engine that died or was too slow") {
  const char* kLog = "loading\n [rank2] Watchdog caught collective operation timeout: WorkNCCL(…)\nbye\n";
  CHECK(retry_reason({Errc::kEnvironment, "", ""}, kLog)->starts_with("[rank2] Watchdog"));
  CHECK(retry_reason({Errc::kTimeout, "", ""}, kLog));
  for (const Errc code : {Errc::kMismatch, Errc::kUsage, Errc::kInterrupted, Errc::kHttp}) {
    CHECK_FALSE(retry_reason({code, "", ""}, kLog));
  }
  CHECK_FALSE(retry_reason({Errc::kEnvironment, "", ""}, "all is well\n"));
}
