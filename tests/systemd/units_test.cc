#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.h"
#include "base/process.h"

namespace bk {
namespace {

std::string with_program(std::string unit, const std::string& program) {
  const std::string installed = "/usr/bin/bracket";
  const auto at = unit.find(installed);
  return at == std::string::npos ? unit : unit.replace(at, installed.size(), program);
}

TEST_CASE("systemd takes every unit as it is shipped, for a profile of any name") {
  const TempDir dir;
  std::vector<std::string> argv = {"systemd-analyze", "verify", "--man=no"};
  int units = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(BK_SOURCE_DIR) + "/fleet/systemd")) {
    std::string name = entry.path().filename().string();
    const auto at = name.find("@.");
    if (at != std::string::npos) name.insert(at + 1, "llama-cpp");
    // systemd-analyze wants the program to be there.
    const std::string text = with_program(read_file(entry.path()).value(), "/bin/true");
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

}  // namespace
}  // namespace bk
