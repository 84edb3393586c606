#pragma once
#include "cli/run_main.h"

namespace bk::greedy_divergence {

/// The whole program: texts of base and candidate boots in (files, or servers asked now), the judgement out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::greedy_divergence
