#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "load/sample.h"

namespace bk::leg {

enum class GateVerdict { kPass, kFail, kNoAnswer };
const char* to_string(GateVerdict verdict);

/// One gate's outcome in one boot: score of asked ("9/9"), and every question with its answer.
struct GateResult {
  std::string name;  ///< "check-quality", "needle-256k" …
  GateVerdict verdict = GateVerdict::kNoAnswer;
  int passed = 0, asked = 0;
  std::string detail;  ///< one line for people
  Json questions;      ///< array: question, expected, answer, verdict, reason
  std::vector<stream::RequestRecord> requests;
};

/// Where a leg puts what it measured, as it is measured: the database, a table, a progress line. An error stops the
/// leg.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status sample(const load::Sample& sample) = 0;
  virtual Status gate(const GateResult& gate) = 0;
  /// Something that people should see: "cached tokens seen in a cold prompt".
  virtual void warn(const std::string& text) = 0;
  /// Done of total repetitions, for the progress line.
  virtual void progress(const std::string& what, int done, int total) = 0;
};

}  // namespace bk::leg
