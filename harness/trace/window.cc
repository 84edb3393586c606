#include "trace/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "trace/event_start.h"

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

Window::Window(std::unique_ptr<ByteSource> source, std::uint64_t base) : source_(std::move(source)), base_(base) {
  static_assert(TokenIndex::kPadding <= Block::kRoomAfter);
  if (source_) block_.memory.resize(kWindow + Block::kRoomAfter);
}

void Window::hold(Block& part, std::uint64_t base) {
  std::swap(block_, part);
  base_ = base;
  piece_ = 0;
  ended_ = true;
}

Block Window::release() {
  block_.size += std::exchange(block_.begin, 0);
  return std::move(block_);
}

void Window::drop(std::size_t size) {
  block_.begin += size;
  block_.size -= size;
  base_ += size;
}

Status Window::fill() {
  std::memmove(block_.memory.data(), data(), block_.size);
  block_.begin = 0;
  while (block_.size < room() && !ended_) {
    BK_ASSIGN(const std::size_t n, source_->read(block_.memory.data() + block_.size, room() - block_.size));
    ended_ = n == 0;
    block_.size += n;
  }
  block_.blank_room();
  return {};
}

/// A line end outside strings is a safe place to cut, and valid JSON has none inside.
std::size_t Window::newline_cut(std::size_t below) const {
  const void* found = memrchr(data(), '\n', below);
  return found == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(found) - data()) + 1;
}

/// Without line ends: after an object that another follows. Inside a name it is no place to cut, which indexing shows.
std::size_t Window::brace_cut(std::size_t below) const {
  for (std::size_t at = below; at > 0;) {
    const void* found = memrchr(data(), '}', at);
    if (found == nullptr) return 0;
    at = static_cast<std::size_t>(static_cast<const char*>(found) - data());
    std::size_t next = at + 1;
    while (next < block_.size && is_blank(data()[next])) ++next;
    if (next >= block_.size || data()[next] != ',') continue;
    ++next;
    while (next < block_.size && is_blank(data()[next])) ++next;
    if (next < block_.size && data()[next] == '{') return at + 1;
  }
  return 0;
}

/// Why the first `size` bytes cannot be indexed, found byte by byte.
Error Window::fault(std::size_t size) const {
  std::size_t open = size;
  bool inside = false;
  for (std::size_t i = 0; i < size;) {
    const auto c = static_cast<unsigned char>(data()[i]);
    std::size_t step = 1;
    if (c >= 0x80) step = utf8_length({data() + i, size - i});
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

TokenIndex::Fault Window::index(std::size_t size) { return index_.index(data(), size); }

Cursor Window::cursor_of(std::size_t size, bool final) {
  piece_ = size;
  Cursor cursor;
  cursor.bytes = data();
  cursor.at = index_.begin();
  cursor.end = cursor.at + index_.count();
  cursor.has_backslash = std::memchr(data(), '\\', size) != nullptr;
  cursor.final = final;
  return cursor;
}

Result<Cursor> Window::index_piece(std::size_t size, bool final) {
  if (index(size) != TokenIndex::Fault::kNone) return fail(fault(size));
  return cursor_of(size, final);
}

Result<Cursor> Window::advance(std::size_t keep_from, std::size_t size) {
  const std::size_t tried = piece_ - std::min(piece_, keep_from);
  drop(keep_from);
  if (block_.size < size && !ended_) BK_TRY(fill());
  for (std::size_t limit = size;;) {
    if (ended_ && limit >= block_.size) return index_piece(block_.size, true);
    const std::size_t below = std::min(limit, block_.size);
    if (const std::size_t cut = newline_cut(below); cut > tried) return index_piece(cut, false);
    for (std::size_t cut = brace_cut(below); cut > tried; cut = brace_cut(cut - 1)) {
      const auto outcome = index(cut);
      if (outcome == TokenIndex::Fault::kBadBytes) return fail(fault(cut));
      if (outcome == TokenIndex::Fault::kNone) return cursor_of(cut, false);
    }
    if (limit < block_.size) {
      limit *= 2;
      continue;
    }
    if (block_.memory.size() > kLongestEvent) {
      return fail(Errc::kParse, "an event longer than 256 MiB", fmt::format("byte {}", base_));
    }
    if (block_.begin == 0 && block_.size == room()) block_.memory.resize(2 * block_.memory.size());
    BK_TRY(fill());
  }
}

Result<bool> Window::resync(std::size_t& from) {
  for (;;) {
    const std::size_t found = first_event_start(ahead(), from + 1);
    if (found < block_.size) {
      from = found;
      return true;
    }
    if (ended_) return false;
    const std::size_t keep = std::max(from, block_.size - std::min(block_.size, kStartBytes));
    drop(std::min(keep, block_.size));
    BK_TRY(fill());
    from = 0;
    piece_ = 0;
  }
}

Result<Cursor> Window::isolate(std::size_t from) {
  drop(from);
  BK_TRY(fill());
  const std::size_t next = first_event_start(ahead(), 1);
  const bool last = next == block_.size && ended_;
  auto cursor = index_piece(next, last);
  piece_ = next;
  if (cursor) return cursor;
  Cursor nothing;
  nothing.bytes = data();
  return nothing;
}

}  // namespace bk::trace
