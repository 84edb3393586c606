#include "stream/record.h"

namespace bk::stream {

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kConnect:
      return "connect";
    case Outcome::kHttpStatus:
      return "http_status";
    case Outcome::kServerError:
      return "server_error";
    case Outcome::kCut:
      return "cut";
    case Outcome::kEmpty:
      return "empty";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kShort:
      return "short";
    case Outcome::kNotStream:
      return "not_stream";
    case Outcome::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

const char* to_string(TokensSource source) {
  switch (source) {
    case TokensSource::kNone:
      return "none";
    case TokensSource::kUsage:
      return "usage";
    case TokensSource::kContinuousUsage:
      return "continuous_usage";
    case TokensSource::kTokenIds:
      return "token_ids";
  }
  return "unknown";
}

const char* to_string(DecodeBasis basis) {
  switch (basis) {
    case DecodeBasis::kNone:
      return "none";
    case DecodeBasis::kExact:
      return "exact";
    case DecodeBasis::kNMinusOne:
      return "n_minus_1";
  }
  return "unknown";
}

}  // namespace bk::stream
