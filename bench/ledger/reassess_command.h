#pragma once
#include "cli/common_flags.h"
#include "command.h"

namespace bk::ledger_tool {

/// `ledger reassess`: assessments of an older rule, made again.
class ReassessCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "reassess"; }
  [[nodiscard]] const char* summary() const override { return "make assessments of an older rule again"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
};

}  // namespace bk::ledger_tool
