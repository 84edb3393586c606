#pragma once
#include "cli/app.h"
#include "cli/run_main.h"

namespace bk::ledger_tool {

/// One subcommand: its flags, and what it does once they are parsed.
class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  [[nodiscard]] virtual const char* summary() const = 0;
  virtual void register_on(cli::App& app) = 0;
  virtual Result<cli::ExitCode> run(cli::Streams& streams) = 0;
};

}  // namespace bk::ledger_tool
