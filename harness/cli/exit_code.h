#pragma once
#include "base/error.h"

namespace bk::cli {

/// What a program's exit code says; the same in every program.
enum class ExitCode {
  kDone = 0,           ///< done, nothing failed
  kFailed = 1,         ///< a gate failed, a regression, some requests failed, or a watched thing changed
  kUsage = 2,          ///< wrong usage, or a refusal that needs a flag
  kEnvironment = 3,    ///< environment, I/O, or every request failed
  kInconclusive = 4,   ///< not enough evidence, or unknown
  kVoid = 5,           ///< the measurement may not be used
  kInterrupted = 130,  ///< a signal ended it; what was finished is kept
};

/// The exit code that an error ends a program with.
[[nodiscard]] ExitCode exit_code_of(Errc code);

}  // namespace bk::cli
