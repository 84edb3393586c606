#pragma once
#include "cli/run_main.h"

namespace bk::census {

/// The whole program: traces in, kernels per step out. The first argument may be a command (composition, tail, gaps,
/// ranks, nccl-fingerprint).
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::census
