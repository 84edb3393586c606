#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "stream/chunk.h"
#include "stream/record.h"
#include "stream/sse.h"

namespace bk::stream {

/// How the transport ended, in this layer's own words.
struct StreamEnd {
  enum class Kind { kComplete, kCut, kConnectFailed, kTimedOut, kCancelled, kProtocol };
  Kind kind = Kind::kComplete;
  std::string message;  ///< one line; empty when complete
  Nanos at = 0;         ///< absolute
};

struct TimelineOptions {
  std::optional<std::int64_t> exact_tokens;  ///< tokens that ignore_eos asked for: fewer are Outcome::kShort
  bool keep_text = true;                     ///< keep content, reasoning and tool calls in the record
};

/// Turns one request's life into its record, by DESIGN section 4. All times given are absolute CLOCK_MONOTONIC
/// nanoseconds. Pure: the same calls give the same record. Call in this order; scheduled(), reopened() and headers()
/// may be missing.
class Timeline {
 public:
  explicit Timeline(TimelineOptions options = {}) : options_(options) {}

  void scheduled(Nanos at) { record_.scheduled = at; }
  /// `connect`: DNS + TCP + TLS; ignored on a reused connection.
  void sent(Nanos at, Nanos connect, bool reused);
  /// A reused connection ended before any byte and the request goes out again: what sent() said is forgotten.
  void reopened();
  void headers(int status, std::string_view content_type, Nanos at);
  /// Body bytes, transfer coding undone, of one read.
  void bytes(std::string_view bytes, Nanos arrival);
  /// The record; the timeline is spent afterwards.
  [[nodiscard]] RequestRecord finish(const StreamEnd& end);

  /// Token-bearing events so far, for a progress line.
  [[nodiscard]] std::size_t token_events() const { return record_.events.size(); }

 private:
  enum class Body { kUnknown, kSse, kWhole };
  void drain();
  void stray_line(std::string_view line);
  void event(const SseEvent& event);
  void chunk(const Chunk& chunk);
  void token_event(const Chunk& chunk);
  void keep_text(const Chunk& chunk);
  void fail_with(std::string message);
  void whole_body();
  void judge(const StreamEnd& end);
  [[nodiscard]] std::optional<std::int64_t> count_tokens();

  TimelineOptions options_;
  RequestRecord record_;
  SseParser parser_;
  Body body_mode_ = Body::kUnknown;
  std::string body_;   ///< a body that is no event stream: an error page, a whole answer
  Nanos arrival_ = 0;  ///< of the read at hand, relative to sent
  std::int64_t read_ = 0, first_token_read_ = -1, last_token_read_ = -1;
  std::vector<std::int64_t> running_;  ///< running completion total at each token event, while every one has it
  std::int64_t ids_total_ = 0;
  bool ids_everywhere_ = true, running_everywhere_ = true;
  bool usage_is_final_ = false, finish_seen_ = false, chunk_seen_ = false, event_stream_ = false;
  std::optional<std::string> server_error_, broken_, stray_;
};

}  // namespace bk::stream
