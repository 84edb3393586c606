#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "support/sim_engine.h"

namespace bk::contract {

/// A folder with whatever the programs' examples name: profiles of fast stand-ins, traces, samples, texts, and servers
/// for the URLs. Commands run there by a shell, with this build's programs first on the PATH.
class Workshop {
 public:
  Workshop();
  /// Runs a command as --help writes it; server addresses and absolute folders are replaced by those of the workshop.
  [[nodiscard]] Captured run(const std::string& command) const;
  [[nodiscard]] std::string path(const std::string& name) const { return dir_.path() / name; }

 private:
  void write_profiles() const;
  void write_lane() const;
  void write_inputs() const;
  TempDir dir_;
  test::SimEngine fast_{{"--speed", "50"}};
  /// Slow enough that a long prefill lands while a stream still runs.
  test::SimEngine slow_{{"--profile", "sim-dsv4", "--speed", "2.5"}};
  test::SimEngine scripted_;
};

/// The programs of this build, by name.
[[nodiscard]] std::vector<std::string> program_names();
/// Lines of one section of a program's --help.
[[nodiscard]] std::vector<std::string> help_section(const std::string& help, const std::string& title);

}  // namespace bk::contract
