#pragma once
#include "cli/app.h"
#include "cli/run_main.h"

namespace bk::bracket_tool {

/// One subcommand: its flags, and what it does once they are parsed.
class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  virtual void register_on(cli::App& app) = 0;
  virtual Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) = 0;
};

}  // namespace bk::bracket_tool
