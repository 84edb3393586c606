#pragma once
#include <string>

#include "carry_out.h"
#include "cli/common_flags.h"
#include "command.h"
#include "plan_flags.h"

namespace bk::bracket_tool {

/// `bracket run`: plans, boots, measures, judges.
class RunCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "run"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  std::string base_, cand_, reopen_, log_dir_;
  PlanFlags plan_;
  bool until_resolved_ = false;
  int max_boots_ = 13;
  cli::CommonFlags flags_;
};

/// `bracket resume ID`: finishes a plan that was interrupted.
class ResumeCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "resume"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  std::string id_, log_dir_;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
