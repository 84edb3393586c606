#pragma once
#include "cli/run_main.h"

namespace bk::bench_conc_mpi {

/// The whole program, on every rank: flags in, this rank's share of the load put on, rank 0 merges and reports.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::bench_conc_mpi
