#include "stream/sse.h"

#include <cstring>

#include "base/check.h"
#include "base/text.h"

namespace bk::stream {
namespace {

constexpr std::size_t kPadding = 64;  // what a SIMD reader may touch behind the data
constexpr std::string_view kBom = "\xEF\xBB\xBF";

const char* find(const char* from, const char* to, char byte) {
  if (from == to) return to;
  const void* hit = std::memchr(from, byte, static_cast<std::size_t>(to - from));
  return hit == nullptr ? to : static_cast<const char*>(hit);
}

std::string_view between(const char* from, const char* to) { return {from, static_cast<std::size_t>(to - from)}; }

}  // namespace

void SseParser::feed(std::string_view bytes) {
  BK_CHECK(cursor_ == end_);
  cursor_ = bytes.data();
  end_ = cursor_ + bytes.size();
  next_lf_ = cursor_ == end_ ? end_ : find(cursor_, end_, '\n');
}

void SseParser::finish() {
  BK_CHECK(cursor_ == end_);
  ending_ = true;
}

const SseEvent* SseParser::next() {
  if (dispatched_) {
    has_data_ = data_owned_ = dispatched_ = false;
    type_.clear();
  }
  std::string_view line;
  while (!overflowed_ && take_line(line)) {
    if (process(line)) return &event_;
  }
  if (!overflowed_ && ending_) {
    if (take_last_line(line) && process(line)) return &event_;
    if (has_data_ && dispatch()) return &event_;
  }
  hold();
  return nullptr;
}

// The next ended line. LF is looked for once per byte (next_lf_), so that CR-only streams cost no second pass.
bool SseParser::take_line(std::string_view& line) {
  if (line_used_) {
    line_.clear();
    line_used_ = false;
  }
  if (skip_lf_ && cursor_ != end_) {
    skip_lf_ = false;
    if (*cursor_ == '\n') ++cursor_;
  }
  if (cursor_ == end_) return false;
  if (next_lf_ < cursor_) next_lf_ = find(cursor_, end_, '\n');
  const char* stop = find(cursor_, next_lf_, '\r');
  const std::string_view piece = between(cursor_, stop);
  if (line_.size() + piece.size() > max_bytes_) {
    overflow();
    return false;
  }
  if (stop == end_) {
    line_.append(piece);
    cursor_ = end_;
    return false;
  }
  cursor_ = stop + 1;
  if (*stop == '\r') {
    skip_lf_ = cursor_ == end_;
    if (!skip_lf_ && *cursor_ == '\n') ++cursor_;
  }
  line = piece;
  if (!line_.empty()) {
    line_.append(piece);
    line = line_;
    line_used_ = true;
  }
  return true;
}

bool SseParser::take_last_line(std::string_view& line) {
  if (line_used_ || line_.empty()) return false;
  line = line_;
  line_used_ = true;
  return true;
}

// True when the line makes event_ ready.
bool SseParser::process(std::string_view line) {
  if (first_line_) {
    first_line_ = false;
    if (line.substr(0, kBom.size()) == kBom) line.remove_prefix(kBom.size());
  }
  if (line.empty()) return dispatch();
  if (line.substr(0, 5) == "data:") {
    line.remove_prefix(line.size() > 5 && line[5] == ' ' ? 6 : 5);
    add_data(line);
    return false;
  }
  if (line.front() == ':' || field(line)) return false;
  event_ = {SseEvent::Kind::kStrayLine, line, {}, id_, 0};
  return true;
}

bool SseParser::dispatch() {
  if (!has_data_) {
    type_.clear();
    return false;
  }
  std::size_t readable_after = static_cast<std::size_t>(end_ - data_.data()) - data_.size();
  if (data_owned_) {
    const std::size_t size = data_own_.size();
    data_own_.append(kPadding, '\0');
    data_ = std::string_view(data_own_).substr(0, size);
    readable_after = kPadding;
  }
  event_ = {SseEvent::Kind::kEvent, data_, type_, id_, readable_after};
  dispatched_ = true;
  return true;
}

void SseParser::add_data(std::string_view value) {
  const std::size_t before = !has_data_ ? 0 : (data_owned_ ? data_own_.size() : data_.size()) + 1;
  if (before + value.size() > max_bytes_) return overflow();
  if (!has_data_ && !line_used_) {
    data_ = value;
    data_owned_ = false;
  } else {
    if (!has_data_) {
      data_own_.clear();
    } else {
      if (!data_owned_) data_own_.assign(data_);
      data_own_.push_back('\n');
    }
    data_own_.append(value);
    data_owned_ = true;
  }
  has_data_ = true;
}

// True when the line is a field that the format knows.
bool SseParser::field(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(colon == std::string_view::npos ? line.size() : colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (name == "event") {
    type_.assign(value);
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_.assign(value);
  } else if (name == "retry") {
    const auto ms = parse_int(value);
    if (ms && *ms >= 0) retry_ms_ = ms;
  } else if (name == "data") {
    add_data(value);
  } else {
    return false;
  }
  return true;
}

// The input goes away: keep the data that points into it.
void SseParser::hold() {
  if (has_data_ && !data_owned_) {
    data_own_.assign(data_);
    data_owned_ = true;
  }
  cursor_ = end_ = next_lf_ = nullptr;
}

void SseParser::overflow() {
  overflowed_ = true;
  has_data_ = data_owned_ = false;
  std::string().swap(line_);
  std::string().swap(data_own_);
  line_used_ = false;
  cursor_ = end_;
}

}  // namespace bk::stream
