#pragma once
#include "tool/bench.h"

namespace bk::tool {

/// How a program ends by what its gates said: kDone, kFailed, kInconclusive where answers are missing.
[[nodiscard]] cli::ExitCode exit_of(leg::GateVerdict verdict);

/// How a program that runs one gate ends: kDone for a pass, kFailed for a wrong answer, kInconclusive when an answer is
/// missing, and an error (exit 3) when none of the gate's requests was answered.
[[nodiscard]] Result<cli::ExitCode> gate_exit(const leg::GateResult& gate);

/// The members that every gate's JSON begins with: bench_head(), verdict, detail, passed, asked, requests_failed and
/// questions.
[[nodiscard]] Json gate_head(const Bench& bench, const Server& server, const KeepingSink& keep,
                             const leg::GateResult& gate);

/// run_bench() for a program that runs one gate: prints once the gate is over, ends with its gate_exit().
[[nodiscard]] Result<cli::ExitCode> run_gate(Bench bench, const cli::CommonFlags& common, cli::Streams& streams,
                                             const cli::Args& args);

}  // namespace bk::tool
