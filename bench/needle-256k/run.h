#pragma once
#include "cli/run_main.h"

namespace bk::needle_256k {

/// The whole program: flags in, the needle leg run, one row a question out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::needle_256k
