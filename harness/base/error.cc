#include "base/error.h"

namespace bk {

const char* to_string(Errc code) {
  switch (code) {
    case Errc::kUsage:
      return "usage";
    case Errc::kRefused:
      return "refused";
    case Errc::kIo:
      return "io";
    case Errc::kEnvironment:
      return "environment";
    case Errc::kConnect:
      return "connect";
    case Errc::kTimeout:
      return "timeout";
    case Errc::kHttp:
      return "http";
    case Errc::kServer:
      return "server";
    case Errc::kParse:
      return "parse";
    case Errc::kMismatch:
      return "mismatch";
    case Errc::kUnavailable:
      return "unavailable";
    case Errc::kFailed:
      return "failed";
    case Errc::kInconclusive:
      return "inconclusive";
    case Errc::kVoid:
      return "void";
    case Errc::kInterrupted:
      return "interrupted";
    case Errc::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace bk
