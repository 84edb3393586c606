#pragma once
#include <string>
#include <vector>

#include "cli/common_flags.h"
#include "command.h"

namespace bk::ledger_tool {

/// `ledger export`: the database as text.
class ExportCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "export"; }
  [[nodiscard]] const char* summary() const override { return "the database as text: JSON lines, CSV, signed files"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  Result<cli::ExitCode> run_signed(cli::Streams& streams);
  std::string db_ = "results.db", format_ = "jsonl", out_;
  bool signed_ = false;
};

/// `ledger import`: text into the database.
class ImportCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "import"; }
  [[nodiscard]] const char* summary() const override { return "take exported text or an older ledger in"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
  std::vector<std::string> paths_;
};

/// `ledger merge`: another database into this one.
class MergeCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "merge"; }
  [[nodiscard]] const char* summary() const override { return "take another database in, without duplicates"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
  std::string other_;
};

/// `ledger backup`: a copy while others write.
class BackupCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "backup"; }
  [[nodiscard]] const char* summary() const override { return "copy the database while others write to it"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams) override;

 private:
  cli::CommonFlags flags_;
  std::string file_;
};

}  // namespace bk::ledger_tool
