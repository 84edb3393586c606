#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/groups.h"
#include "trace/walker.h"

namespace bk::trace {

/// Knows events again by their text. Writers repeat themselves: the next event of a kernel differs from its last one in
/// times and ids only, and events follow one another as they did before. An event whose bytes are those of one that was
/// walked, but for some numbers, needs no tokens and no walk: comparing bytes is several times faster. What is read is
/// the same.
class Repeats {
 public:
  /// Events that differ in some numbers only.
  struct Form {
    std::uint32_t serial = 0;  ///< no two forms of a trace have the same, and none has 0
    Kind kind = Kind::kOther;
    RawEvent event;  ///< of the first one; ts and dur are empty when they differ
   private:
    friend class Repeats;
    std::string text;                       ///< without the numbers that differ
    std::vector<std::uint32_t> sizes;       ///< of the text before each number, and after the last one
    std::uint32_t ts = kNone, dur = kNone;  ///< which of the numbers
  };

  /// The form of the event that `bytes` begin with, when it is known and all of it is there. Seven bytes after `bytes`
  /// may be read.
  const Form* find(std::string_view bytes);
  /// Size of the event that find() found.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Its members.
  [[nodiscard]] RawEvent event_of(const Form& form) const;

  /// Remembers an event that was walked; `end` is the cursor after it. Gives its form's serial, 0 when it has none.
  std::uint32_t learn(const Cursor& begin, const Cursor& end, const RawEvent& event, Kind kind);

 private:
  using Id = std::uint16_t;  ///< 0 is no form
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kMaxNumbers = 16;
  static constexpr int kCredit = 4096;
  static constexpr unsigned kLongBits = 14, kShortBits = 12;

  bool same(const Form& form, std::string_view bytes);
  void saw(Id id);
  bool measure(const Cursor& begin, const Cursor& end);
  Id id_of(const Cursor& begin, const Cursor& end, const RawEvent& event, Kind kind);
  void forget();

  std::uint32_t serials_ = 0;
  std::vector<std::unique_ptr<Form>> forms_;  ///< by id, less one
  std::unordered_map<std::string_view, Id> by_text_;
  /// What came next, the last time and before, after the same events.
  struct Next {
    Id last = 0, other = 0;
    void saw(Id id) {
      if (id == last) return;
      other = last;
      last = id;
    }
  };
  /// By the last eight events, and by the last two.
  std::array<Next, std::size_t{1} << kLongBits> after_eight_{};
  std::array<Next, std::size_t{1} << kShortBits> after_two_{};
  std::uint64_t history_ = 0;
  std::size_t eight_ = 0, two_ = 0;  ///< the places for what comes next
  Id last_ = 0;
  int credit_ = kCredit;  ///< spent on events that are new; a trace that does not repeat itself is not learned
  int pause_ = 0;         ///< new events to let pass without learning
  std::size_t size_ = 0;
  std::array<std::string_view, kMaxNumbers> numbers_;  ///< of the event that was found
  std::string text_;
  std::vector<std::string_view> differing_;  ///< numbers of the event that is learned
};

}  // namespace bk::trace
