#include <catch2/catch.hpp>
#include <filesystem>

#include "base/process.h"
#include "base/text.h"
#include "tree.h"

namespace bk::meta {
namespace {

/// Commands in the fenced ```sh blocks of a page, continuation lines joined, comments and variables before them cut.
std::vector<std::vector<std::string>> commands_of(const SourceFile& page) {
  std::vector<std::vector<std::string>> commands;
  bool inside = false;
  std::string pending;
  for (const std::string& line : page.lines()) {
    if (starts_with(line, "```")) {
      inside = !inside && starts_with(line, "```sh");
      continue;
    }
    if (!inside) continue;
    pending += line.substr(0, line.find(" #"));
    if (!pending.empty() && pending.back() == '\\') {
      pending.back() = ' ';
      continue;
    }
    std::vector<std::string> words;
    for (const std::string_view word : split(pending, ' ')) {
      const bool is_variable = words.empty() && word.find('=') != std::string_view::npos;
      if (!word.empty() && !is_variable) words.emplace_back(word);
    }
    if (!words.empty() && words.front().front() != '#') commands.push_back(words);
    pending.clear();
  }
  return commands;
}

std::string output_of(const std::vector<std::string>& argv) {
  Command command;
  command.argv = argv;
  command.cwd = BK_SOURCE_DIR;
  const auto captured = run_captured(command, 20 * kSecond);
  REQUIRE(captured);
  return captured->out;
}

void check_dev(const std::vector<std::string>& words) {
  if (words.size() < 2) return;
  CHECK(output_of({"./dev", "help"}).find("\n  " + words[1] + " ") != std::string::npos);
}

void check_program(const std::string& name, const std::vector<std::string>& words) {
  std::vector<std::string> argv = {std::string(BK_BIN_DIR) + "/" + name};
  if (words.size() > 1 && words[1].front() != '-' &&
      output_of({argv[0], "--help"}).find("\nCOMMANDS\n") != std::string::npos) {
    argv.push_back(words[1]);
  }
  argv.emplace_back("--help");
  const std::string help = output_of(argv);
  for (const std::string& word : words) {
    if (word == ">" || word == "|") break;
    if (!starts_with(word, "--")) continue;
    const std::string flag(split(word, '=').front());
    CAPTURE(name, flag);
    CHECK(help.find(flag) != std::string::npos);
  }
}

TEST_CASE("commands in the documents exist, with their flags") {
  const auto known = programs();
  int checked = 0;
  for (const SourceFile& page : files_with({".md"})) {
    if (starts_with(page.path, "tests/fixtures/")) continue;
    for (const auto& words : commands_of(page)) {
      const std::string program = std::filesystem::path(words.front()).filename().string();
      CAPTURE(page.path, words);
      if (words.front() == "./dev") {
        check_dev(words);
        ++checked;
      } else if (known.count(program) != 0) {
        check_program(program, words);
        ++checked;
      }
    }
  }
  CHECK(checked >= 3);
}

}  // namespace
}  // namespace bk::meta
