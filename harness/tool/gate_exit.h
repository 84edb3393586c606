#pragma once
#include "cli/exit_code.h"
#include "leg/sink.h"

namespace bk::tool {

/// How a program that runs one gate ends: kDone for a pass, kFailed for a wrong answer, kInconclusive when an answer is
/// missing, and an error (exit 3) when every one of the gate's requests failed.
[[nodiscard]] Result<cli::ExitCode> gate_exit(const leg::GateResult& gate, int requests_failed);

}  // namespace bk::tool
