#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>

#include "base/process.h"
#include "base/text.h"
#include "base/version.h"
#include "tree.h"

namespace bk::meta {
namespace {

Captured run(const std::string& program, const std::vector<std::string>& args) {
  Command command;
  command.argv = {std::string(BK_BIN_DIR) + "/" + program};
  command.argv.insert(command.argv.end(), args.begin(), args.end());
  auto captured = run_captured(command, 20 * kSecond);
  REQUIRE(captured);
  return *captured;
}

TEST_CASE("every program answers --help, --version and a flag that it does not know") {
  const auto all = programs();
  REQUIRE(all.size() >= 3);
  for (const auto& [name, folder] : all) {
    CAPTURE(name, folder);
    REQUIRE(std::filesystem::exists(std::filesystem::path(BK_BIN_DIR) / name));
    const Captured help = run(name, {"--help"});
    CHECK(help.exit.code == 0);
    CHECK(help.out.find(name) != std::string::npos);
    CHECK(help.out.find("--version") != std::string::npos);
    CHECK(help.err.empty());
    const Captured version_run = run(name, {"--version"});
    CHECK(version_run.exit.code == 0);
    CHECK(version_run.out == name + " " + version() + " (" + commit() + ")\n");
    const Captured wrong = run(name, {"--no-such-flag-anywhere"});
    CHECK(wrong.exit.code == 2);
    CHECK(wrong.out.empty());
    CHECK(starts_with(wrong.err, name + ": error: "));
    CHECK(split_lines(wrong.err).size() == 1);
  }
}

}  // namespace
}  // namespace bk::meta
