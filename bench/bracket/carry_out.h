#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/file_lock.h"
#include "bracket/execute.h"
#include "cli/run_main.h"
#include "store/store.h"

namespace bk::bracket_tool {

/// How `run` and `resume` execute and report.
struct CarryOut {
  std::string db;
  std::string profile;  ///< as it was named: a name, or a path that `resume` has to be given again
  std::string log_dir;  ///< empty: logs/ beside the database
  std::string format = "table";
  std::string out;
  bool quiet = false;
};

/// The program's own row in the database, secrets taken out of its command line.
[[nodiscard]] Result<store::RowId> begin_run(store::Database& database, const cli::Streams& streams,
                                             const cli::Args& args, std::uint64_t seed,
                                             std::optional<store::RowId> bracket);
/// The right to run a stored bracket, for as long as the value lives. kRefused naming the process that has it.
[[nodiscard]] Result<std::unique_ptr<FileLock>> own_bracket(const std::string& db, const std::string& uid);
/// The profile's key from the caller's environment, kept out of everything that is printed; empty when it has none.
[[nodiscard]] Result<std::string> engine_key(const boot::Profile& profile, cli::Streams& streams);
/// `log_dir`, or logs/ beside the database.
[[nodiscard]] std::filesystem::path engine_log_dir(const std::string& log_dir, const std::string& db);

/// A rejected axis is not measured again by accident: kRefused naming the verdict, unless `reopen` says why.
[[nodiscard]] Status guard_rejected(store::Database& database, const bracket::Plan& plan, const std::string& reopen);

/// How what was carried out ended.
struct Ended {
  bool is_void = false;
  bool false_alarm = false;  ///< a difference was called between arms that are the same
};
/// Runs what is left. @param run  the program's own row.
using Body = std::function<Result<Ended>(const bracket::Tools& tools, store::RowId run)>;

/// Executes what is left of a stored bracket, matrix or sweep and shows it. kDone when it completed, kVoid when it is
/// void; an error otherwise, with the way to go on said on streams.err.
/// @param plan  of the bracket, or of the whole family.
[[nodiscard]] Result<cli::ExitCode> carry_out(cli::Streams& streams, const cli::Args& args, store::Database& database,
                                              const boot::Profile& profile, const bracket::Plan& plan,
                                              store::RowId bracket, const std::string& uid, const CarryOut& how,
                                              const Body& body);
/// The same of a single bracket.
[[nodiscard]] Result<cli::ExitCode> carry_out(cli::Streams& streams, const cli::Args& args, store::Database& database,
                                              const boot::Profile& profile, const bracket::Plan& plan,
                                              store::RowId bracket, const std::string& uid, const CarryOut& how);

}  // namespace bk::bracket_tool
