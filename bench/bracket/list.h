#pragma once
#include "cli/common_flags.h"
#include "command.h"

namespace bk::bracket_tool {

/// `bracket list`: every bracket of the database, one a line.
class ListCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "list"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
