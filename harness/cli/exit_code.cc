#include "cli/exit_code.h"

namespace bk::cli {

ExitCode exit_code_of(Errc code) {
  switch (code) {
    case Errc::kFailed:
    case Errc::kMismatch:
      return ExitCode::kFailed;
    case Errc::kUsage:
    case Errc::kRefused:
      return ExitCode::kUsage;
    case Errc::kInconclusive:
      return ExitCode::kInconclusive;
    case Errc::kVoid:
      return ExitCode::kVoid;
    case Errc::kInterrupted:
      return ExitCode::kInterrupted;
    case Errc::kIo:
    case Errc::kEnvironment:
    case Errc::kConnect:
    case Errc::kTimeout:
    case Errc::kHttp:
    case Errc::kServer:
    case Errc::kParse:
    case Errc::kUnavailable:
    case Errc::kInternal:
      break;
  }
  return ExitCode::kEnvironment;
}

}  // namespace bk::cli
