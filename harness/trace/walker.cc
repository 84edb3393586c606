#include "trace/walker.h"

#include <array>
#include <cstring>

#include "trace/number.h"

namespace bk::trace {
namespace {

constexpr std::array<bool, 256> table_of(std::string_view members) {
  std::array<bool, 256> table{};
  for (const char c : members) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr auto kBlank = table_of(" \t\r\n");
constexpr auto kDigit = table_of("0123456789");
constexpr auto kHexDigit = table_of("0123456789abcdefABCDEF");
constexpr auto kEscape = table_of("\"\\/bfnrtu");

bool in(const std::array<bool, 256>& table, char c) { return table[static_cast<unsigned char>(c)]; }

std::size_t word_end(const char* text, std::size_t at, std::size_t end) {
  for (const std::string_view word : {std::string_view("true"), std::string_view("false"), std::string_view("null")}) {
    if (end - at >= word.size() && std::memcmp(text + at, word.data(), word.size()) == 0) return at + word.size();
  }
  return at;
}

/// Offset of the first backslash that starts no escape, or `end`.
std::size_t bad_escape(const char* text, std::size_t at, std::size_t end) {
  while (at < end) {
    const void* found = std::memchr(text + at, '\\', end - at);
    if (found == nullptr) return end;
    at = static_cast<std::size_t>(static_cast<const char*>(found) - text);
    if (at + 1 >= end || !in(kEscape, text[at + 1])) return at;
    constexpr std::size_t kUnicodeEscape = 6;
    if (text[at + 1] != 'u') {
      at += 2;
      continue;
    }
    if (at + kUnicodeEscape > end) return at;
    for (std::size_t i = at + 2; i < at + kUnicodeEscape; ++i) {
      if (!in(kHexDigit, text[i])) return at;
    }
    at += kUnicodeEscape;
  }
  return end;
}

std::string_view* member_of(RawEvent& event, std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ts") return &event.ts;
      return key == "ph" ? &event.ph : nullptr;
    case 3:
      if (key == "dur") return &event.dur;
      if (key == "cat") return &event.cat;
      if (key == "pid") return &event.pid;
      return key == "tid" ? &event.tid : nullptr;
    case 4:
      return key == "name" ? &event.name : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Walk Walker::broken(std::size_t at) {
  fault_at_ = at;
  return Walk::kBroken;
}

Walk Walker::deep() {
  too_deep_ = true;
  return broken(*c_.at);
}

Walk Walker::ended() { return c_.final ? broken(*c_.end) : Walk::kIncomplete; }

inline Walk Walker::string(std::string_view& text) {
  if (!c_.more()) return ended();
  const std::size_t start = *c_.at, last = *(c_.at + 1) - 1;
  if (!c_.has_backslash && c_.bytes[start] == '"' && c_.bytes[last] == '"' && last > start) {
    text = {c_.bytes + start + 1, last - start - 1};
    ++c_.at;
    return Walk::kDone;
  }
  return odd_string(text);
}

/// With blanks after it, or with escapes to check; or none.
Walk Walker::odd_string(std::string_view& text) {
  const std::size_t open = *c_.at;
  if (c_.bytes[open] != '"') return broken(open);
  // Between a string's end and the next token there are blanks only.
  std::size_t close = *(c_.at + 1) - 1;
  while (close > open && in(kBlank, c_.bytes[close])) --close;
  if (close == open || c_.bytes[close] != '"') return broken(open);
  text = {c_.bytes + open + 1, close - open - 1};
  if (c_.has_backslash) {
    const std::size_t bad = bad_escape(c_.bytes, open + 1, close);
    if (bad != close) return broken(bad);
  }
  ++c_.at;
  return Walk::kDone;
}

inline Walk Walker::scalar(std::string_view& text) {
  const std::size_t start = *c_.at, limit = *(c_.at + 1);
  const char first = c_.bytes[start];
  const std::size_t end =
      first == '-' || in(kDigit, first) ? number_end(c_.bytes, start, limit) : word_end(c_.bytes, start, limit);
  if (end == start) return broken(start);
  for (std::size_t i = end; i < limit; ++i) {
    if (!in(kBlank, c_.bytes[i])) return broken(start);
  }
  text = {c_.bytes + start, end - start};
  ++c_.at;
  return Walk::kDone;
}

inline Walk Walker::value(int depth, std::string_view& text) {
  if (!c_.more()) return ended();
  switch (c_.peek()) {
    case '"':
      return string(text);
    case '{':
      return skip_object(depth);
    case '[':
      return array(depth);
    default:
      return scalar(text);
  }
}

Walk Walker::array(int depth) {
  if (depth >= kMaxDepth) return deep();
  ++c_.at;
  if (!c_.more()) return ended();
  if (c_.peek() == ']') {
    ++c_.at;
    return Walk::kDone;
  }
  for (std::string_view ignored;;) {
    if (const Walk walk = value(depth + 1, ignored); walk != Walk::kDone) return walk;
    if (!c_.more()) return ended();
    const char next = c_.peek();
    if (next != ',' && next != ']') return broken(*c_.at);
    ++c_.at;
    if (next == ']') return Walk::kDone;
  }
}

/// A member in the form that writers use: key and colon side by side, and a value of one token. Gives the tokens after
/// it, or nullptr when it has another form.
template <class OnMember>
inline const std::uint32_t* Walker::plain_member(const std::uint32_t* at, OnMember& on_member) const {
  const char* const bytes = c_.bytes;
  const std::size_t key = at[0], colon = at[1], value = at[2], next = at[3];
  if (bytes[key] != '"' || bytes[colon] != ':' || bytes[colon - 1] != '"' || colon - 1 == key) return nullptr;
  const char first = bytes[value];
  std::string_view text;
  if (first == '"') {
    if (bytes[next - 1] != '"' || next - 1 == value) return nullptr;
    text = {bytes + value + 1, next - value - 2};
  } else if (in(kDigit, first) || first == '-') {
    const std::size_t end = number_end(bytes, value, next);
    for (std::size_t i = end; i < next; ++i) {
      if (!in(kBlank, bytes[i])) return nullptr;
    }
    if (end == value) return nullptr;
    text = {bytes + value, end - value};
  } else {
    return nullptr;
  }
  if (bytes[next] != ',' && bytes[next] != '}') return nullptr;
  if (std::string_view* place = on_member({bytes + key + 1, colon - key - 2})) *place = text;
  return at + 4;
}

/// One `"key": value`; on_member(key) gives the place for the value's text, or nullptr; on_object(key) reads an object.
template <class OnMember, class OnObject>
Walk Walker::member(int depth, OnMember& on_member, OnObject& on_object) {
  std::string_view key, ignored;
  if (const Walk walk = string(key); walk != Walk::kDone) return walk;
  if (!c_.more()) return ended();
  if (c_.peek() != ':') return broken(*c_.at);
  ++c_.at;
  if (!c_.more()) return ended();
  if (c_.peek() == '{') return on_object(key);
  std::string_view* place = on_member(key);
  return value(depth + 1, place != nullptr ? *place : ignored);
}

template <class OnMember, class OnObject>
inline Walk Walker::object(int depth, OnMember on_member, OnObject on_object) {
  constexpr std::ptrdiff_t kTokens = 3;  // of a plain member; what follows it may be the entry after the last token
  if (depth >= kMaxDepth) return deep();
  ++c_.at;
  if (!c_.more()) return ended();
  if (c_.peek() == '}') {
    ++c_.at;
    return Walk::kDone;
  }
  for (;;) {
    if (!c_.has_backslash && c_.end - c_.at >= kTokens) {
      if (const std::uint32_t* after = plain_member(c_.at, on_member)) {
        c_.at = after;
        if (c_.bytes[*(after - 1)] == '}') return Walk::kDone;
        continue;
      }
    }
    if (const Walk walk = member(depth, on_member, on_object); walk != Walk::kDone) return walk;
    if (!c_.more()) return ended();
    const char next = c_.peek();
    if (next != ',' && next != '}') return broken(*c_.at);
    ++c_.at;
    if (next == '}') return Walk::kDone;
  }
}

Walk Walker::skip_object(int depth) {
  return object(
      depth, [](std::string_view) -> std::string_view* { return nullptr; },
      [this, depth](std::string_view) { return skip_object(depth + 1); });
}

Walk Walker::arguments(RawEvent& event) {
  return object(
      1,
      [&event](std::string_view key) -> std::string_view* {
        if (key.size() != 6) return nullptr;
        if (key == "stream") return &event.stream;
        return key == "device" ? &event.device : nullptr;
      },
      [this](std::string_view) { return skip_object(2); });
}

Walk Walker::event(RawEvent& event) {
  return object(
      0, [&event](std::string_view key) { return member_of(event, key); },
      [this, &event](std::string_view key) { return key == "args" ? arguments(event) : skip_object(1); });
}

Walk Walker::key(std::string_view& text) { return string(text); }

Walk Walker::skip() {
  std::string_view ignored;
  return value(0, ignored);
}

}  // namespace bk::trace
