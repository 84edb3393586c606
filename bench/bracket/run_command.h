#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bracket/plan.h"
#include "carry_out.h"
#include "cli/common_flags.h"
#include "command.h"

namespace bk::bracket_tool {

/// `bracket run`: plans, boots, measures, judges.
class RunCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "run"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  [[nodiscard]] bracket::PlanOptions options() const;

  std::string base_, cand_, reopen_, log_dir_;
  int boots_ = 3, gate_context_ = 2048;
  std::optional<std::int64_t> reps_, tokens_;
  std::vector<std::int64_t> concurrency_{1};
  double temperature_ = 0.95, alpha_ = 0.05, band_pct_ = 0.5;
  int warmup_ = 1;
  bool quick_ = false, ignore_eos_ = false, no_gate_ = false;
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
