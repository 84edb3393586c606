#pragma once
#include "cli/run_main.h"

namespace bk::overlay {

/// The whole program: overlay compose | verify | diff | list | audit | enter.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::overlay
