#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bracket/gates.h"
#include "cli/common_flags.h"
#include "command.h"

namespace bk::bracket_tool {

/// `bracket gate`: one boot of a profile, every gate, and an exit code by what they say.
class GateCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "gate"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  [[nodiscard]] Result<bracket::GatesPlan> plan() const;

  std::string knobs_, contexts_ = "2K,32K,128K", log_dir_;
  std::int64_t needle_context_ = 256'000;
  int korean_rounds_ = 2, greedy_tokens_ = 200;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
