#pragma once
#include <string>

#include "cli/common_flags.h"
#include "command.h"
#include "plan_flags.h"

namespace bk::bracket_tool {

/// `bracket baseline` and `bracket aa`: boots that all run one configuration.
class SameCommand final : public Command {
 public:
  enum class Kind { kBaseline, kNoDifference };
  explicit SameCommand(Kind kind) : kind_(kind) {}
  [[nodiscard]] const char* name() const override { return kind_ == Kind::kBaseline ? "baseline" : "aa"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  Kind kind_;
  std::string knobs_, log_dir_;
  PlanFlags plan_;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
