#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>

#include "base/file.h"
#include "base/process.h"

namespace bk {
namespace {

/// systemd-analyze wants the programs to be there.
std::string with_programs(const std::string& unit) {
  return std::regex_replace(unit, std::regex("=/usr/bin/[a-z-]+"), "=/bin/true");
}

}  // namespace

TEST_CASE("systemd takes every unit as it is shipped, for a profile of any name") {
  const TempDir dir;
  std::vector<std::string> argv = {"systemd-analyze", "verify", "--man=no"};
  int units = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(BK_SOURCE_DIR) + "/fleet/systemd")) {
    std::string name = entry.path().filename().string();
    const auto at = name.find("@.");
    if (at != std::string::npos) name.insert(at + 1, "llama-cpp");
    const std::string text = with_programs(read_file(entry.path()).value());
    REQUIRE(write_file_atomic(dir.path() / entry.path().filename(), text));
    argv.push_back((dir.path() / name).string());
    ++units;
  }
  REQUIRE(units >= 2);
  const auto ran = run_captured({argv, {}, "", ""}, 30 * kSecond);
  REQUIRE(ran);
  INFO(ran->out << ran->err);
  CHECK(ran->exit.code == 0);
  CHECK(ran->err.empty());
}

}  // namespace bk
