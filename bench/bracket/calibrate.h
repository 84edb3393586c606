#pragma once
#include "cli/common_flags.h"
#include "command.h"
#include "report/format.h"

namespace bk::bracket_tool {

/// `bracket calibrate`: the rule's false alarms, coverage and power by simulated brackets.
class CalibrateCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "calibrate"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  Result<cli::ExitCode> render_former(cli::Streams& streams, report::Format format) const;
  int brackets_ = 20'000, threads_ = 0;
  std::string only_, from_;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
