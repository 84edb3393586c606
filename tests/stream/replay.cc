#include "replay.h"

#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace bk::stream::test {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

// The captures hold each byte as the code point of the same number.
std::string from_latin1(std::string_view utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    if (lead < 0x80) {
      out.push_back(utf8[i]);
    } else {
      const auto tail = static_cast<unsigned char>(utf8[++i]);
      out.push_back(static_cast<char>((lead & 0x03) << 6 | (tail & 0x3F)));
    }
  }
  return out;
}

std::vector<Json> json_lines(const std::string& name) {
  const std::string text = fixture(name);
  std::vector<Json> lines;
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).empty()) continue;
    auto json = parse_json(line);
    INFO(name);
    REQUIRE(json);
    lines.push_back(std::move(*json));
  }
  return lines;
}

/// Undoes chunked transfer coding of bytes given in pieces.
class Dechunker {
 public:
  std::string feed(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) step(c, out);
    return out;
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void step(char c, std::string& out) {
    if (left_ > 0) {
      out.push_back(c);
      if (--left_ == 0) skip_ = 2;
    } else if (skip_ > 0) {
      --skip_;
    } else if (c == '\n') {
      left_ = std::stoul(size_, nullptr, 16);
      size_.clear();
      complete_ = complete_ || left_ == 0;
      if (left_ == 0) skip_ = 2;
    } else if (c != '\r') {
      size_.push_back(c);
    }
  }
  std::size_t left_ = 0;
  int skip_ = 0;
  std::string size_;
  bool complete_ = false;
};

std::string header(std::string_view head, std::string_view name) {
  for (const std::string_view line : split_lines(head)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && to_lower(line.substr(0, colon)) == name) {
      return std::string(trim(line.substr(colon + 1)));
    }
  }
  return {};
}

}  // namespace

std::string fixture(const std::string& name) {
  auto bytes = read_file(std::string(BK_SOURCE_DIR) + "/tests/fixtures/" + name);
  INFO(name);
  REQUIRE(bytes);
  return *bytes;
}

std::vector<Read> read_case(const std::string& name) {
  std::vector<Read> reads;
  for (const Json& line : json_lines(name)) {
    const auto hex = line["hex"].as_string();
    reads.push_back({from_ms(*line["t_ms"].as_double()), hex ? from_hex(*hex) : *line["data"].as_string()});
  }
  return reads;
}

Capture read_capture(const std::string& name) {
  Capture capture;
  Dechunker chunks;
  std::string head;
  bool in_head = true;
  for (const Json& line : json_lines(name)) {
    if (const auto request = line["request"].as_string()) {
      capture.request = *request;
      continue;
    }
    const Nanos at = *line["t_us"].as_int() * kMicrosecond;
    capture.end = at;
    const auto data = line["data"].as_string();
    if (!data) continue;
    std::string bytes = from_latin1(*data);
    REQUIRE(static_cast<std::int64_t>(bytes.size()) == line["n"].as_int());
    if (in_head) {
      head += bytes;
      const std::size_t blank = head.find("\r\n\r\n");
      if (blank == std::string::npos) continue;
      in_head = false;
      bytes = head.substr(blank + 4);
      capture.status = static_cast<int>(*parse_int(split(split_lines(head)[0], ' ')[1]));
      capture.content_type = header(head.substr(0, blank), "content-type");
    }
    std::string body = chunks.feed(bytes);
    if (!body.empty()) capture.reads.push_back({at, std::move(body)});
  }
  capture.complete = chunks.complete();
  return capture;
}

std::vector<std::string_view> cut(std::string_view bytes, const std::vector<std::size_t>& positions) {
  std::vector<std::string_view> pieces;
  std::size_t from = 0;
  for (const std::size_t at : positions) {
    pieces.push_back(bytes.substr(from, at - from));
    from = at;
  }
  pieces.push_back(bytes.substr(from));
  return pieces;
}

RequestRecord replay(const std::vector<Read>& reads, TimelineOptions options, StreamEnd::Kind kind, Nanos end) {
  Timeline timeline(options);
  timeline.scheduled(kSecond);
  timeline.sent(kSecond, kMillisecond, false);
  timeline.headers(200, "text/event-stream", kSecond + kMillisecond);
  for (const Read& read : reads) timeline.bytes(read.bytes, kSecond + read.at);
  if (end == 0 && !reads.empty()) end = reads.back().at;
  return timeline.finish({kind, {}, kSecond + end});
}

RequestRecord replay(const Capture& capture, TimelineOptions options) {
  Timeline timeline(options);
  timeline.sent(kSecond, 0, true);
  timeline.headers(capture.status, capture.content_type, kSecond);
  for (const Read& read : capture.reads) timeline.bytes(read.bytes, kSecond + read.at);
  const auto kind = capture.complete ? StreamEnd::Kind::kComplete : StreamEnd::Kind::kCut;
  return timeline.finish({kind, {}, kSecond + capture.end});
}

RequestRecord replay_body(std::string_view body, StreamEnd::Kind kind) {
  return replay({{10 * kMillisecond, std::string(body)}}, {}, kind);
}

std::string digest(const RequestRecord& record) {
  std::string out =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", to_string(record.outcome), record.reason, record.data_events,
                  record.done_seen, to_string(record.tokens_source), record.completion_tokens.value_or(-1),
                  record.finish_reason, record.model, record.content, record.reasoning, record.tool_calls);
  for (const TokenEvent& event : record.events) out += fmt::format(",{}", event.tokens);
  if (record.usage) {
    out += fmt::format("|{}/{}/{}", record.usage->prompt_tokens.value_or(-1), record.usage->cached_tokens.value_or(-1),
                       record.usage->reasoning_tokens.value_or(-1));
  }
  return out;
}

}  // namespace bk::stream::test
