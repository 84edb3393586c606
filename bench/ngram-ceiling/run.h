#pragma once
#include "cli/run_main.h"

namespace bk::ngram_ceiling {

/// The whole program: texts in, the bound by policy and the verdict out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::ngram_ceiling
