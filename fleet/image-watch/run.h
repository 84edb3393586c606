#pragma once
#include "cli/run_main.h"

namespace bk::image_watch {

/// The whole program: a registry's tag pages and the state of the last look in; what changed, out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::image_watch
