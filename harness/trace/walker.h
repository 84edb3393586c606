#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bk::trace {

/// One indexed piece of a trace, and the place of the next token in it.
struct Cursor {
  const char* bytes = nullptr;
  const std::uint32_t* at = nullptr;
  const std::uint32_t* end = nullptr;  ///< *end is the size of the piece
  bool has_backslash = false;          ///< escapes need to be checked
  bool final = false;                  ///< the trace ends where the piece ends

  [[nodiscard]] bool more() const { return at != end; }
  [[nodiscard]] char peek() const { return bytes[*at]; }
};

/// Members of one event, as they stand in the bytes: strings without their quotes, numbers as text. Empty when absent.
struct RawEvent {
  std::string_view ph, cat, name, ts, dur, pid, tid;
  std::string_view device, stream;  ///< of its args
};

/// How reading a value went.
enum class Walk {
  kDone,
  kIncomplete,  ///< the piece ends inside it
  kBroken,      ///< no JSON: Walker::fault_at() says where
};

/// Values nested deeper are not read.
inline constexpr int kMaxDepth = 200;

/// Reads values strictly after RFC 8259 along the tokens of a piece. Nothing is copied.
class Walker {
 public:
  explicit Walker(Cursor& cursor) : c_(cursor) {}

  /// An object whose members are an event's.
  Walk event(RawEvent& event);
  /// Any value, checked and dropped.
  Walk skip();
  /// A string; its text without quotes.
  Walk key(std::string_view& text);
  /// Offset in the piece of the token that may not stand there.
  [[nodiscard]] std::size_t fault_at() const { return fault_at_; }
  /// It is JSON, but nested deeper than is read.
  [[nodiscard]] bool too_deep() const { return too_deep_; }

 private:
  template <class OnMember, class OnObject>
  Walk object(int depth, OnMember on_member, OnObject on_object);
  template <class OnMember, class OnObject>
  Walk member(int depth, OnMember& on_member, OnObject& on_object);
  template <class OnMember>
  const std::uint32_t* plain_member(const std::uint32_t* at, OnMember& on_member) const;
  Walk skip_object(int depth);
  Walk array(int depth);
  Walk string(std::string_view& text);
  Walk odd_string(std::string_view& text);
  Walk value(int depth, std::string_view& text);
  Walk scalar(std::string_view& text);
  Walk arguments(RawEvent& event);
  Walk broken(std::size_t at);
  Walk deep();
  Walk ended();

  Cursor& c_;
  std::size_t fault_at_ = 0;
  bool too_deep_ = false;
};

}  // namespace bk::trace
