#include "trace/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"

namespace bk::trace {
namespace {

constexpr std::size_t kWindow = std::size_t{256} * 1024;
constexpr std::size_t kLongestEvent = std::size_t{256} * 1024 * 1024;
/// Longer than the start of an event that resync() looks at, blanks included.
constexpr std::size_t kStartBytes = 256;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Length of the UTF-8 character at the start, or 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  for (std::size_t n = 1; n <= std::min<std::size_t>(4, text.size()); ++n) {
    if (is_utf8(text.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

Window::Window(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), bytes_(kWindow + TokenIndex::kPadding) {}

Status Window::fill(std::size_t keep_from) {
  std::memmove(bytes_.data(), bytes_.data() + keep_from, size_ - keep_from);
  base_ += keep_from;
  size_ -= keep_from;
  const std::size_t room = bytes_.size() - TokenIndex::kPadding;
  while (size_ < room && !ended_) {
    BK_ASSIGN(const std::size_t n, source_->read(bytes_.data() + size_, room - size_));
    ended_ = n == 0;
    size_ += n;
  }
  return {};
}

/// A line end outside strings is a safe place to cut, and valid JSON has none inside.
std::size_t Window::newline_cut() const {
  const void* found = memrchr(bytes_.data(), '\n', size_);
  return found == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data()) + 1;
}

/// Without line ends: after an object that another follows. Inside a name it is no place to cut, which indexing shows.
std::size_t Window::brace_cut(std::size_t below) const {
  for (std::size_t at = below; at > 0;) {
    const void* found = memrchr(bytes_.data(), '}', at);
    if (found == nullptr) return 0;
    at = static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data());
    std::size_t next = at + 1;
    while (next < size_ && is_blank(bytes_[next])) ++next;
    if (next >= size_ || bytes_[next] != ',') continue;
    ++next;
    while (next < size_ && is_blank(bytes_[next])) ++next;
    if (next < size_ && bytes_[next] == '{') return at + 1;
  }
  return 0;
}

/// Why the first `size` bytes cannot be indexed, found byte by byte.
Error Window::fault(std::size_t size) const {
  std::size_t open = size;
  bool inside = false;
  for (std::size_t i = 0; i < size;) {
    const auto c = static_cast<unsigned char>(bytes_[i]);
    std::size_t step = 1;
    if (c >= 0x80) step = utf8_length({bytes_.data() + i, size - i});
    if (step == 0) return {Errc::kParse, "bytes that are not UTF-8", fmt::format("byte {}", base_ + i)};
    if (inside && c < 0x20) {
      return {Errc::kParse, "a control character inside a string", fmt::format("byte {}", base_ + i)};
    }
    if (inside && c == '\\') step = 2;
    if (c == '"') {
      inside = !inside;
      open = i;
    }
    i += step;
  }
  if (inside) {
    return {Errc::kParse, fmt::format("the trace is cut: it ends inside the string at byte {}", base_ + open),
            fmt::format("byte {}", base_ + size)};
  }
  return {Errc::kParse, "bytes that are no JSON", fmt::format("byte {}", base_)};
}

TokenIndex::Fault Window::index(std::size_t size) {
  std::memset(bytes_.data() + size_, ' ', TokenIndex::kPadding);
  return index_.index(bytes_.data(), size);
}

Cursor Window::cursor_of(std::size_t size, bool final) {
  piece_ = size;
  Cursor cursor;
  cursor.bytes = bytes_.data();
  cursor.at = index_.begin();
  cursor.end = cursor.at + index_.count();
  cursor.has_backslash = std::memchr(bytes_.data(), '\\', size) != nullptr;
  cursor.final = final;
  return cursor;
}

Result<Cursor> Window::index_piece(std::size_t size, bool final) {
  if (index(size) != TokenIndex::Fault::kNone) return fail(fault(size));
  return cursor_of(size, final);
}

Result<Cursor> Window::advance(std::size_t keep_from) {
  const std::size_t tried = piece_ - std::min(piece_, keep_from);
  BK_TRY(fill(keep_from));
  for (;;) {
    if (ended_) return index_piece(size_, true);
    if (const std::size_t cut = newline_cut(); cut > tried) return index_piece(cut, false);
    for (std::size_t cut = brace_cut(size_); cut > tried; cut = brace_cut(cut - 1)) {
      const auto outcome = index(cut);
      if (outcome == TokenIndex::Fault::kBadBytes) return fail(fault(cut));
      if (outcome == TokenIndex::Fault::kNone) return cursor_of(cut, false);
    }
    if (bytes_.size() > kLongestEvent) {
      return fail(Errc::kParse, "an event longer than 256 MiB", fmt::format("byte {}", base_));
    }
    bytes_.resize(2 * (bytes_.size() - TokenIndex::kPadding) + TokenIndex::kPadding);
    BK_TRY(fill(0));
  }
}

std::size_t Window::event_start(std::size_t from) const {
  constexpr std::array<std::string_view, 7> kFirstKeys = {"\"ph\"",  "\"name\"", "\"cat\"", "\"pid\"",
                                                          "\"tid\"", "\"ts\"",   "\"args\""};
  for (std::size_t at = from; at < size_; ++at) {
    const void* found = std::memchr(bytes_.data() + at, '{', size_ - at);
    if (found == nullptr) return size_;
    at = static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data());
    std::size_t before = at, after = at + 1;
    while (before > 0 && is_blank(bytes_[before - 1])) --before;
    while (after < size_ && is_blank(bytes_[after])) ++after;
    if (before == 0 || bytes_[before - 1] != ',') continue;
    const std::string_view rest(bytes_.data() + after, size_ - after);
    if (std::any_of(kFirstKeys.begin(), kFirstKeys.end(),
                    [&](std::string_view key) { return rest.starts_with(key); })) {
      return at;
    }
  }
  return size_;
}

Result<bool> Window::resync(std::size_t& from) {
  for (;;) {
    const std::size_t found = event_start(from + 1);
    if (found < size_) {
      from = found;
      return true;
    }
    if (ended_) return false;
    const std::size_t keep = std::max(from, size_ - std::min(size_, kStartBytes));
    BK_TRY(fill(std::min(keep, size_)));
    from = 0;
    piece_ = 0;
  }
}

Result<Cursor> Window::isolate(std::size_t from) {
  BK_TRY(fill(from));
  const std::size_t next = event_start(1);
  const bool last = next == size_ && ended_;
  auto cursor = index_piece(next, last);
  piece_ = next;
  if (cursor) return cursor;
  Cursor nothing;
  nothing.bytes = bytes_.data();
  return nothing;
}

}  // namespace bk::trace
