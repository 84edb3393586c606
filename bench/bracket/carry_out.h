#pragma once
#include <string>

#include "bracket/plan.h"
#include "cli/run_main.h"
#include "store/store.h"

namespace bk::bracket_tool {

/// How `run` and `resume` execute and report.
struct CarryOut {
  std::string db;
  std::string log_dir;  ///< empty: logs/ beside the database
  std::string format = "table";
  std::string out;
  bool quiet = false;
};

/// Executes what is left of a stored bracket and shows it. kDone when the bracket completed, kVoid when it is void; an
/// error otherwise, with the way to go on said on streams.err.
[[nodiscard]] Result<cli::ExitCode> carry_out(cli::Streams& streams, const cli::Args& args, store::Database& database,
                                              const boot::Profile& profile, const bracket::Plan& plan,
                                              store::RowId bracket, const std::string& uid, const CarryOut& how);

}  // namespace bk::bracket_tool
