#pragma once
#include <string>

#include "cli/common_flags.h"
#include "command.h"

namespace bk::ledger_tool {

/// `ledger render`: MEASUREMENTS.md.
class RenderCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "render"; }
  [[nodiscard]] const char* summary() const override { return "write MEASUREMENTS.md (--out - for standard output)"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
};

/// `ledger report`: the database as one page for a browser.
class ReportCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "report"; }
  [[nodiscard]] const char* summary() const override { return "write one self-contained HTML page"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
  bool html_ = true;
};

/// `ledger check`: the database's own integrity, and whether a page is its rendering.
class CheckCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "check"; }
  [[nodiscard]] const char* summary() const override { return "look for damage, and compare a page with the database"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
  std::string file_;
};

/// `ledger note`: a hand-written note that survives rendering.
class NoteCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "note"; }
  [[nodiscard]] const char* summary() const override { return "add a hand-written note"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
  std::string text_, by_;
  std::optional<std::string> bracket_, profile_, axis_;
};

}  // namespace bk::ledger_tool
