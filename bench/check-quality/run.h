#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/run_main.h"

namespace bk::check_quality {

/// "2K,32000" -> {2048, 32000}. kUsage for anything that is no whole number, with or without a K.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_contexts(const std::string& text);

/// The whole program: flags in, the quality leg run, one row a context out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::check_quality
