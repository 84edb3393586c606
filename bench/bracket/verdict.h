#pragma once
#include <string>

#include "cli/common_flags.h"
#include "command.h"

namespace bk::bracket_tool {

/// `bracket verdict ID WORD --by NAME --reason TEXT`: a person signs. The tool never does.
class VerdictCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "verdict"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  std::string id_, word_, by_, reason_, override_;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
