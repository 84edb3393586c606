#pragma once
#include <string>
#include <vector>

#include "cli/common_flags.h"
#include "command.h"

namespace bk::bracket_tool {

/// `bracket compare A B …`: the same figures of several brackets, one below the other.
class CompareCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "compare"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  std::vector<std::string> ids_;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
