#pragma once
#include "cli/run_main.h"

namespace bk::perf {

/// `bk-perf`: what measuring costs and how true it is, against sim-engine of the same build. Data to streams.out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::perf
