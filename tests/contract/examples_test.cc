#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "contract/workshop.h"

namespace bk::contract {
namespace {

constexpr std::string_view kIndent = "       ";

/// Entries of a section: lines that are indented by seven, without those that explain them.
std::vector<std::string> entries(const std::string& help, const std::string& title) {
  std::vector<std::string> found;
  for (const std::string& line : help_section(help, title)) {
    if (line.starts_with(kIndent) && line[kIndent.size()] != ' ') found.push_back(line.substr(kIndent.size()));
  }
  return found;
}

std::string help_of(const std::vector<std::string>& words) {
  std::vector<std::string> argv = words;
  argv.emplace_back("--help");
  const Captured ran = test::run_program(argv);
  REQUIRE(ran.exit.code == 0);
  return ran.out;
}

std::vector<std::string> examples_of(const std::string& program) {
  const std::string help = help_of({program});
  std::vector<std::string> examples = entries(help, "EXAMPLES");
  for (const std::string& command : entries(help, "COMMANDS")) {
    if (command.find(' ') != std::string::npos) continue;
    for (std::string& example : entries(help_of({program, command}), "EXAMPLES"))
      examples.push_back(std::move(example));
  }
  return examples;
}

/// What an example needs beside itself to end within a test, and how it may end when not with 0.
struct Row {
  const char* begins;
  const char* more;
  std::set<int> codes;
};
const std::vector<Row>& special() {
  static const std::vector<Row> kRows = {
      // Few simulated brackets: a bound may be left by chance.
      {"bracket calibrate --from", "", {0}},
      {"bracket calibrate --brackets", "--threads 2", {0, 1}},
      {"bracket calibrate --only", "--brackets 100 --threads 2", {0, 1}},
      {"bracket calibrate", "--brackets 100 --only aba/", {0, 1}},
      // Thirty short pairs on a machine that tests something else at the same time may leave the question open.
      {"bracket hot", "", {0, 1, 4}},
      // A stand-in engine whose figures nobody believes: its boots are short.
      {"bracket run", "--reps 1 --tokens 16", {0}},
      {"bracket matrix", "--reps 1 --tokens 16", {0}},
      {"bracket sweep", "--reps 1 --tokens 16", {0}},
      // The wheel is not here: the whole line runs up to that.
      {"overlay verify llama-cpp-overlay --wheel", "", {1, 2, 3}},
      // No checkout: what is deployed has to be a commit.
      {"overlay deploy", "", {2}},
      // The nodes of a fleet and a registry on the network are not here: what is asked runs up to that.
      {"fleet-audit", "", {0, 1, 3, 4}},
      {"image-watch", "", {0, 1, 3}},
      // An empty tree: nothing that the rules look for is there.
      {"overlay audit --root", "", {4}},
      {"overlay audit --container", "", {3}},
      {"ledger serve", "--port 0 & pid=$!; sleep 1; kill -INT $pid; wait $pid", {0, 130}},
      {"supervisor --profile llama-cpp", "& pid=$!; sleep 3; kill -INT $pid; wait $pid", {0, 130}},
      {"sim-engine --port", "& pid=$!; sleep 1; kill -INT $pid; wait $pid", {0, 130}},
      {"sim-engine --profile", "& pid=$!; sleep 1; kill -INT $pid; wait $pid", {0, 130}},
  };
  return kRows;
}

}  // namespace

TEST_CASE("every example of every program's --help runs", "[examples]") {
  const Workshop workshop;
  const std::vector<std::string> programs = program_names();
  REQUIRE(programs.size() >= 20);
  std::map<std::string, std::vector<std::string>> examples;
  for (const std::string& program : programs) {
    INFO(program << " --help shows no example");
    examples[program] = examples_of(program);
    CHECK_FALSE(examples[program].empty());
  }
  // What one program writes another's example reads: the ledger comes after the brackets, as the names are sorted.
  for (const std::string& program : programs) {
    for (const std::string& example : examples[program]) {
      std::string command = example;
      std::set<int> codes = {0};
      for (const Row& row : special()) {
        if (!example.starts_with(row.begins)) continue;
        command += std::string(" ") + row.more;
        codes = row.codes;
        break;
      }
      const Captured ran = workshop.run(command);
      INFO(command << "\n" << ran.err << ran.out.substr(0, 2000));
      CHECK(codes.count(ran.exit.code) == 1);
    }
  }
}

}  // namespace bk::contract
