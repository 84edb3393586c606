#include "trace/repeats.h"

#include <algorithm>
#include <cstring>

#include "trace/number.h"

namespace bk::trace {
namespace {

constexpr std::size_t kMaxForms = 4096;
constexpr std::size_t kMaxText = 4096;
constexpr int kPause = 8192;

/// Members whose numbers differ between events that are alike otherwise. The list decides how much is known again, not
/// what is read.
constexpr std::string_view kDiffer[] = {"\"ts\"",
                                        "\"dur\"",
                                        "\"id\"",
                                        "\"correlation\"",
                                        "\"External id\"",
                                        "\"Ev Idx\"",
                                        "\"Record function id\"",
                                        "\"Sequence number\"",
                                        "\"Python id\"",
                                        "\"Python parent id\"",
                                        "\"memory bandwidth (GB/s)\"",
                                        "\"Addr\"",
                                        "\"Total Allocated\"",
                                        "\"Total Reserved\""};

bool differs(std::string_view quoted_key) {
  return std::find(std::begin(kDiffer), std::end(kDiffer), quoted_key) != std::end(kDiffer);
}

bool begins_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }

using Two = std::uint64_t __attribute__((vector_size(16)));

template <class Word>
Word difference(const char* a, const char* b) {
  Word left, right;
  std::memcpy(&left, a, sizeof left);
  std::memcpy(&right, b, sizeof right);
  return left ^ right;
}
bool is_zero(std::uint64_t word) { return word == 0; }
bool is_zero(Two words) { return (words[0] | words[1]) == 0; }

/// One to two words: the first and the last one, which may overlap.
template <class Word>
bool same_ends(const char* a, const char* b, std::size_t size) {
  const std::size_t last = size - sizeof(Word);
  return is_zero(difference<Word>(a, b) | difference<Word>(a + last, b + last));
}

/// As memcmp() == 0, whose call costs more than the comparison of so few bytes.
bool same_bytes(const char* a, const char* b, std::size_t size) {
  constexpr std::size_t kTwo = sizeof(Two);
  while (size > 4 * kTwo) {
    const Two near = difference<Two>(a, b) | difference<Two>(a + kTwo, b + kTwo);
    const Two far = difference<Two>(a + 2 * kTwo, b + 2 * kTwo) | difference<Two>(a + 3 * kTwo, b + 3 * kTwo);
    if (!is_zero(near | far)) return false;
    a += 4 * kTwo;
    b += 4 * kTwo;
    size -= 4 * kTwo;
  }
  if (size > 2 * kTwo) {
    if (!same_ends<Two>(a, b, 2 * kTwo)) return false;
    return same_ends<Two>(a + size - 2 * kTwo, b + size - 2 * kTwo, 2 * kTwo);
  }
  if (size >= kTwo) return same_ends<Two>(a, b, size);
  if (size >= sizeof(std::uint64_t)) return same_ends<std::uint64_t>(a, b, size);
  if (size >= sizeof(std::uint32_t)) return same_ends<std::uint32_t>(a, b, size);
  while (size > 0 && a[size - 1] == b[size - 1]) --size;
  return size == 0;
}

std::uint64_t mix(std::uint64_t value) { return value * 0x9e3779b97f4a7c15U; }

}  // namespace

/// All bytes from the event's first to its last are compared, or read as a number that ends where the text goes on.
bool Repeats::same(const Form& form, std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  const char* text = form.text.data();
  const std::size_t numbers = form.sizes.size() - 1;
  for (std::size_t i = 0;; ++i) {
    const std::uint32_t size = form.sizes[i];
    if (static_cast<std::size_t>(end - at) < size || !same_bytes(at, text, size)) return false;
    text += size;
    at += size;
    if (i == numbers) break;
    const std::size_t digits = number_end(at, 0, static_cast<std::size_t>(end - at));
    if (digits == 0) return false;
    numbers_[i] = {at, digits};
    at += digits;
  }
  size_ = static_cast<std::size_t>(at - bytes.data());
  return true;
}

void Repeats::saw(Id id) {
  after_eight_[eight_].saw(id);
  after_two_[two_].saw(id);
  history_ = (history_ << 8) ^ (mix(id) >> 16);
  eight_ = mix(history_) >> (64 - kLongBits);
  two_ = mix((std::uint64_t{last_} << 16) + id) >> (64 - kShortBits);
  last_ = id;
}

const Repeats::Form* Repeats::find(std::string_view bytes) {
  const Next &long_ago = after_eight_[eight_], &lately = after_two_[two_];
  Id id = 0;
  const auto is = [&](Id guess) {
    id = guess;
    return id != 0 && same(*forms_[id - 1], bytes);
  };
  if (!is(long_ago.last) && !is(long_ago.other) && !is(lately.last) && !is(lately.other)) return nullptr;
  credit_ = std::min(credit_ + 1, kCredit);
  saw(id);
  return forms_[id - 1].get();
}

RawEvent Repeats::event_of(const Form& form) const {
  RawEvent event = form.event;
  if (form.ts != kNone) event.ts = numbers_[form.ts];
  if (form.dur != kNone) event.dur = numbers_[form.dur];
  return event;
}

/// The numbers that differ into differing_, the text without them into text_. False when it is too long to keep.
bool Repeats::measure(const Cursor& begin, const Cursor& end) {
  const char* const bytes = begin.bytes;
  const std::size_t last = *(end.at - 1) + 1;
  std::size_t from = *begin.at;
  if (last - from > kMaxText) return false;
  text_.clear();
  differing_.clear();
  for (const std::uint32_t* at = begin.at + 1; at != end.at; ++at) {
    if (bytes[*at] != ':' || !begins_number(bytes[at[1]])) continue;
    if (!differs({bytes + at[-1], at[0] - at[-1]})) continue;
    if (differing_.size() == kMaxNumbers) return false;
    const std::size_t number = at[1], after = number_end(bytes, number, at[2]);
    text_.append(bytes + from, number - from);
    differing_.emplace_back(bytes + number, after - number);
    from = after;
  }
  text_.append(bytes + from, last - from);
  return true;
}

Repeats::Id Repeats::id_of(const Cursor& begin, const Cursor& end, const RawEvent& event, Kind kind) {
  if (!measure(begin, end)) return 0;
  if (const auto found = by_text_.find(text_); found != by_text_.end()) return found->second;
  if (forms_.size() == kMaxForms) return 0;
  Form& form = *forms_.emplace_back(std::make_unique<Form>());
  form.serial = ++serials_;
  form.kind = kind;
  form.text = text_;
  const char* from = begin.bytes + *begin.at;
  for (const std::string_view number : differing_) {
    form.sizes.push_back(static_cast<std::uint32_t>(number.data() - from));
    from = number.data() + number.size();
  }
  form.sizes.push_back(static_cast<std::uint32_t>(begin.bytes + *(end.at - 1) + 1 - from));
  // A member as it stands in the text that is kept.
  const auto keep = [&](std::string_view member) {
    if (member.data() == nullptr) return member;
    auto offset = static_cast<std::size_t>(member.data() - (begin.bytes + *begin.at));
    for (const std::string_view number : differing_) offset -= number.data() < member.data() ? number.size() : 0;
    return std::string_view(form.text).substr(offset, member.size());
  };
  const auto keep_or_find = [&](std::string_view member, std::uint32_t& which) {
    for (std::uint32_t i = 0; i < differing_.size(); ++i) {
      if (differing_[i].data() == member.data()) which = i;
    }
    return which == kNone ? keep(member) : std::string_view();
  };
  form.event.ph = keep(event.ph);
  form.event.cat = keep(event.cat);
  form.event.name = keep(event.name);
  form.event.ts = keep_or_find(event.ts, form.ts);
  form.event.dur = keep_or_find(event.dur, form.dur);
  form.event.pid = keep(event.pid);
  form.event.tid = keep(event.tid);
  form.event.device = keep(event.device);
  form.event.stream = keep(event.stream);
  const auto id = static_cast<Id>(forms_.size());
  by_text_.emplace(form.text, id);
  return id;
}

void Repeats::forget() {
  by_text_.clear();
  forms_.clear();
  after_eight_.fill({});
  after_two_.fill({});
  pause_ = kPause;
  credit_ = kCredit / 4;
}

std::uint32_t Repeats::learn(const Cursor& begin, const Cursor& end, const RawEvent& event, Kind kind) {
  if (pause_ > 0) {
    --pause_;
    return 0;
  }
  if (--credit_ == 0) {
    forget();
    return 0;
  }
  const Id id = id_of(begin, end, event, kind);
  saw(id);
  return id == 0 ? 0 : forms_[id - 1]->serial;
}

}  // namespace bk::trace
