#include "leg/sink.h"

namespace bk::leg {

const char* to_string(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kPass:
      return "pass";
    case GateVerdict::kFail:
      return "fail";
    case GateVerdict::kNoAnswer:
      return "no_answer";
  }
  return "no_answer";
}

}  // namespace bk::leg
