#include "tool/gate_exit.h"

namespace bk::tool {

Result<cli::ExitCode> gate_exit(const leg::GateResult& gate, int requests_failed) {
  if (gate.asked > 0 && requests_failed >= gate.asked) {
    return fail(Errc::kServer, "no question was answered: " + gate.detail);
  }
  switch (gate.verdict) {
    case leg::GateVerdict::kPass:
      return cli::ExitCode::kDone;
    case leg::GateVerdict::kFail:
      return cli::ExitCode::kFailed;
    case leg::GateVerdict::kNoAnswer:
      break;
  }
  return cli::ExitCode::kInconclusive;
}

}  // namespace bk::tool
