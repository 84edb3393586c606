#pragma once
#include <string>
#include <vector>

#include "bracket/family_plan.h"
#include "carry_out.h"
#include "cli/common_flags.h"
#include "command.h"
#include "plan_flags.h"

namespace bk::bracket_tool {

/// `bracket matrix` and `bracket sweep`: several arms that share base boots.
class FamilyCommand final : public Command {
 public:
  using Kind = bracket::FamilySpec::Kind;
  explicit FamilyCommand(Kind kind) : kind_(kind) {}
  [[nodiscard]] const char* name() const override { return to_string(kind_); }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  [[nodiscard]] Result<bracket::FamilySpec> spec() const;

  Kind kind_;
  std::vector<std::string> knobs_;
  std::string base_, set_, reopen_, log_dir_;
  int rounds_ = 2;
  PlanFlags plan_;
  cli::CommonFlags flags_;
};

/// Runs what is left of a stored family. @param plan  of its whole.
[[nodiscard]] Result<cli::ExitCode> resume_family(cli::Streams& streams, const cli::Args& args,
                                                  store::Database& database, const boot::Profile& profile,
                                                  const bracket::Plan& plan, const store::BracketRow& whole,
                                                  const CarryOut& how);

}  // namespace bk::bracket_tool
