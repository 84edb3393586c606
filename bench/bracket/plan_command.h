#pragma once
#include <optional>

#include "cli/common_flags.h"
#include "command.h"
#include "plan_flags.h"

namespace bk::bracket_tool {

/// `bracket plan`: what a bracket of this many boots could show, before any is run.
class PlanCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "plan"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  PlanFlags plan_;
  std::optional<double> effect_pct_;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
