#pragma once
#include "options.h"
#include "trace/census.h"

namespace bk::census {

/// Kernels and time per step, by group and by name.
[[nodiscard]] Result<cli::ExitCode> run_table(cli::Streams& streams, const cli::Args& args);
[[nodiscard]] Result<cli::ExitCode> run_composition(cli::Streams& streams, const cli::Args& args);
[[nodiscard]] Result<cli::ExitCode> run_tail(cli::Streams& streams, const cli::Args& args);
[[nodiscard]] Result<cli::ExitCode> run_gaps(cli::Streams& streams, const cli::Args& args);
[[nodiscard]] Result<cli::ExitCode> run_ranks(cli::Streams& streams, const cli::Args& args);
[[nodiscard]] Result<cli::ExitCode> run_nccl(cli::Streams& streams, const cli::Args& args);

/// Facts and tables of one census.
[[nodiscard]] Page census_page(const trace::Recording& recording, const trace::Census& census, std::size_t top);
/// Two censuses side by side; names whose launches per step differ are marked.
[[nodiscard]] Page census_diff(const trace::Recording& a, const trace::Census& before, const trace::Recording& b,
                               const trace::Census& after, std::size_t top);

}  // namespace bk::census
