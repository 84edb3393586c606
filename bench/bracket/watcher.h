#pragma once
#include <vector>

#include "bracket/execute.h"
#include "cli/run_main.h"
#include "report/progress.h"

namespace bk::bracket_tool {

/// Shows a bracket as it runs: a live line for the boot, bench and gate at hand, and one line that stays for each boot.
class ProgressWatcher final : public bracket::Watcher {
 public:
  /// @param metric, cell  the primary ones, for the line of a boot.
  ProgressWatcher(cli::Streams& streams, bool quiet, std::string metric, std::string cell);
  void stage(const std::string& text) override;
  void boot_done(const std::string& text) override;
  Status sample(const load::Sample& sample) override;
  Status gate(const leg::GateResult& gate) override;
  void warn(const std::string& text) override;
  void progress(const std::string& what, int done, int total) override;
  void finish() { progress_.finish(); }

 private:
  SystemClock clock_;
  bool quiet_;
  std::string metric_, cell_;
  report::Progress progress_;
  std::vector<double> values_;
  std::vector<std::optional<double>> acceptance_;
  std::string gates_;
};

}  // namespace bk::bracket_tool
