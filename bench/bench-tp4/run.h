#pragma once
#include "cli/run_main.h"

namespace bk::bench_tp4 {

/// The program's body: flags in, a leg run, a report out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::bench_tp4
