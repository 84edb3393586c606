#include "tool/gate.h"

#include <algorithm>

namespace bk::tool {
namespace {

/// A question that could not even be asked counts.
int requests_failed(const leg::GateResult& gate) {
  const auto ok = [](const stream::RequestRecord& request) { return request.ok(); };
  return gate.asked - static_cast<int>(std::count_if(gate.requests.begin(), gate.requests.end(), ok));
}

}  // namespace

cli::ExitCode exit_of(leg::GateVerdict verdict) {
  switch (verdict) {
    case leg::GateVerdict::kPass:
      return cli::ExitCode::kDone;
    case leg::GateVerdict::kFail:
      return cli::ExitCode::kFailed;
    case leg::GateVerdict::kNoAnswer:
      break;
  }
  return cli::ExitCode::kInconclusive;
}

Result<cli::ExitCode> gate_exit(const leg::GateResult& gate) {
  if (gate.asked > 0 && requests_failed(gate) >= gate.asked) {
    return fail(Errc::kServer, "no question was answered: " + gate.detail);
  }
  return exit_of(gate.verdict);
}

Json gate_head(const Bench& bench, const Server& server, const KeepingSink& keep, const leg::GateResult& gate) {
  Json head = bench_head(bench, server, keep);
  head.set("verdict", leg::to_string(gate.verdict)).set("detail", gate.detail);
  head.set("passed", gate.passed).set("asked", gate.asked).set("requests_failed", requests_failed(gate));
  return head.set("questions", gate.questions);
}

Result<cli::ExitCode> run_gate(Bench bench, const cli::CommonFlags& common, cli::Streams& streams,
                               const cli::Args& args) {
  bench.outcome = [](const KeepingSink& keep) -> Result<cli::ExitCode> {
    if (keep.gates.empty()) return fail(Errc::kInternal, "the gate gave no result");
    return gate_exit(keep.gates.back());
  };
  return run_bench(bench, common, streams, args);
}

}  // namespace bk::tool
