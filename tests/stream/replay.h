#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "stream/timeline.h"

namespace bk::stream::test {

/// One read: bytes and their arrival after the request was written.
struct Read {
  Nanos at = 0;
  std::string bytes;
};

/// The bytes of tests/fixtures/<name>; the test fails when the file is missing.
std::string fixture(const std::string& name);

/// The reads of a case file with `t_ms` and `data` or `hex`.
std::vector<Read> read_case(const std::string& name);

/// A raw HTTP capture (`*.timed.jsonl`) with its head and chunked framing undone; a read keeps its arrival.
struct Capture {
  int status = 0;
  std::string content_type;
  bool complete = false;  ///< the last chunk came
  std::vector<Read> reads;
  Nanos end = 0;
  std::string request;
};
Capture read_capture(const std::string& name);

/// `bytes` cut before each of the positions (ascending).
std::vector<std::string_view> cut(std::string_view bytes, const std::vector<std::size_t>& positions);

/// A timeline over reads: sent at 1 s on a fresh connection, ended at the last read (or `end`, after the request).
RequestRecord replay(const std::vector<Read>& reads, TimelineOptions options = {},
                     StreamEnd::Kind kind = StreamEnd::Kind::kComplete, Nanos end = 0);
/// As replay, of a capture, with its own end.
RequestRecord replay(const Capture& capture, TimelineOptions options = {});
/// One body in one read at 10 ms, content type text/event-stream.
RequestRecord replay_body(std::string_view body, StreamEnd::Kind kind = StreamEnd::Kind::kComplete);

/// Everything of a record that must not depend on how the bytes were cut.
std::string digest(const RequestRecord& record);

}  // namespace bk::stream::test
