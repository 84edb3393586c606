#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"

namespace bk::bracket_tool {

/// A directory with a database and profiles of its own, and the program that works there.
class Bench {
 public:
  Bench() { write_profile("test", "", "--knob GATEFUSE={VALUE}"); }

  /// The sim profile reduced to two knobs, with an extra piece of command line and a way to set GATEFUSE.
  void write_profile(const std::string& name, const std::string& more, const std::string& gatefuse_flag,
                     const std::string& lines = {}) const {
    const std::string text =
        "COMMAND=\"{BIN}/sim-engine --profile sim --host 127.0.0.1 --port {PORT} --seed {SEED} "
        "--boot-index {BOOT_INDEX} --served-model-name m " +
        more + "\"\nSERVED_MODEL=m\nREADY_TIMEOUT_S=30\nSTOP_GRACE_S=5\n" +
        "NULLKNOB=0\nNULLKNOB.values=\"0 1\"\nNULLKNOB.flag=\"--knob NULLKNOB={VALUE}\"\n"
        "NULLKNOB.proof='log: ^proof NULLKNOB={VALUE}$'\n"
        "GATEFUSE=0\nGATEFUSE.values=\"0 1\"\nGATEFUSE.flag=\"" +
        gatefuse_flag + "\"\nGATEFUSE.proof='log: ^proof GATEFUSE={VALUE}$'\n" + lines;
    REQUIRE(write_file_atomic(dir_.path() / (name + ".env"), text));
  }

  [[nodiscard]] Command command(std::vector<std::string> words) const {
    words.insert(words.begin(), std::string(BK_BIN_DIR) + "/bracket");
    words.insert(words.end(), {"--db", db()});
    Command c;
    c.argv = std::move(words);
    c.env = {{"BK_PROFILES", dir_.path().string()}};
    c.cwd = dir_.path().string();
    return c;
  }
  [[nodiscard]] Captured run(std::vector<std::string> words) const {
    auto captured = run_captured(command(std::move(words)), 120 * kSecond);
    REQUIRE(captured);
    return *captured;
  }
  [[nodiscard]] Captured bracket(const std::string& profile, int boots = 3, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{
        "run",     "--profile",           profile,  "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1",
        "--boots", std::to_string(boots), "--reps", "3",      "--tokens",   "48",     "--no-gate",
        "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words));
  }
  [[nodiscard]] std::string db() const { return dir_.path() / "results.db"; }
  [[nodiscard]] const std::filesystem::path& dir() const { return dir_.path(); }

 private:
  TempDir dir_;
};

inline Json json_of(const Captured& captured) {
  INFO(captured.err);
  const auto doc = parse_json(captured.out);
  REQUIRE(doc);
  return *doc;
}

}  // namespace bk::bracket_tool
