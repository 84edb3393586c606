#pragma once
#include <string>

namespace bk {

/// Why something that may be expected to fail did. cli/exit_code.h maps each to a program's exit code.
enum class Errc {
  kUsage,         ///< wrong flag, unknown knob, malformed input file named by the user
  kRefused,       ///< allowed only with an explicit flag (a rejected axis, a dirty tree, a changed configuration)
  kIo,            ///< file, disk or process failure
  kEnvironment,   ///< something that the machine lacks: a program, a port, a database
  kConnect,       ///< no connection: DNS, TCP, TLS
  kTimeout,       ///< a stated limit ran out
  kHttp,          ///< the server answered with a status that is not a success
  kServer,        ///< the server reported an error inside a successful response
  kParse,         ///< bytes that do not follow their format
  kMismatch,      ///< two things that must be equal differ
  kUnavailable,   ///< the server or the engine does not offer it (no /metrics, no /tokenize)
  kFailed,        ///< a gate failed, a regression was found, a watched thing changed
  kInconclusive,  ///< not enough evidence either way
  kVoid,          ///< the measurement may not be used
  kInterrupted,   ///< a signal ended it; what was finished is kept
  kInternal,      ///< a third-party library failed in a way that has no better name
};

/// One failure: what went wrong and where (file:row, URL, knob …). Texts name the next step where there is one.
struct Error {
  Errc code = Errc::kInternal;
  std::string what;
  std::string where;

  /// The same error seen from further out: "reading profiles/x.env: <what>".
  [[nodiscard]] Error with(const std::string& context) const { return {code, context + ": " + what, where}; }
  /// "what (where)", one line.
  [[nodiscard]] std::string text() const { return where.empty() ? what : what + " (" + where + ")"; }
};

/// Stable snake_case name of the code, for JSON.
const char* to_string(Errc code);

}  // namespace bk
