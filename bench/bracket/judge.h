#pragma once
#include <string>

#include "cli/common_flags.h"
#include "command.h"

namespace bk::bracket_tool {

/// `bracket judge FILE.jsonl`: assesses samples recorded elsewhere.
class JudgeCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "judge"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  std::string file_, better_;
  double alpha_ = 0.05, band_pct_ = 0.5;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
