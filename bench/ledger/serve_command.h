#pragma once
#include <string>

#include "cli/common_flags.h"
#include "command.h"

namespace bk::ledger_tool {

/// `ledger serve`: the page of `ledger report`, live.
class ServeCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "serve"; }
  [[nodiscard]] const char* summary() const override { return "the same page, live while a bracket runs"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
  std::string host_ = "127.0.0.1";
  std::int64_t port_ = 8090;
};

}  // namespace bk::ledger_tool
