#include "trace/decimal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "trace/digits.h"

namespace bk::trace {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits of a number and where its point stands: 0.digits * 10^point.
struct Digits {
  std::string_view whole, fraction;
  int exponent = 0;
  bool negative = false;
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(whole.size() + fraction.size()); }
  [[nodiscard]] int at(std::int64_t i) const {
    if (i < 0 || i >= size()) return 0;
    const auto at = static_cast<std::size_t>(i);
    return (at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0';
  }
};

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

bool take_exponent(std::string_view& text, int& exponent) {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return true;
  text.remove_prefix(1);
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return false;
  constexpr int kBeyondAnyUse = 10'000;
  for (const char c : digits) exponent = std::min(kBeyondAnyUse, exponent * 10 + (c - '0'));
  if (negative) exponent = -exponent;
  return true;
}

std::optional<Digits> read_digits(std::string_view text) {
  Digits d;
  if (!text.empty() && text.front() == '-') {
    d.negative = true;
    text.remove_prefix(1);
  }
  d.whole = take_digits(text);
  if (d.whole.empty() || (d.whole.size() > 1 && d.whole.front() == '0')) return std::nullopt;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    d.fraction = take_digits(text);
    if (d.fraction.empty()) return std::nullopt;
  }
  if (!take_exponent(text, d.exponent) || !text.empty()) return std::nullopt;
  return d;
}

constexpr std::size_t kEight = 8;

std::uint64_t four_values(const char* text) {
  std::uint32_t word = 0;
  std::memcpy(&word, text, sizeof word);
  return word ^ 0x30303030U;
}

/// The last eight characters less '0' each, the first one in the lowest byte; zeros come before a shorter text.
std::uint64_t last_eight(std::string_view text) {
  const std::size_t size = text.size();
  if (size >= kEight) return digit_values(text.data() + (size - kEight));
  if (size >= 4) {
    // The two fours overlap where they are the same.
    return four_values(text.data()) << (kEight * (kEight - size)) | four_values(text.data() + (size - 4)) << 32;
  }
  std::uint64_t values = 0;
  for (const char c : text) values = values >> kEight | static_cast<std::uint64_t>(c ^ '0') << 56;
  return values;
}

/// Joins neighbours: digits to pairs, pairs to fours, fours to the eight.
std::int64_t joined(std::uint64_t digits) {
  digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffU;
  digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffU;
  return static_cast<std::int64_t>((digits * 10'000 + (digits >> 32)) & 0xffffffffU);
}

/// The value of the digits before the last eight characters of a text that has more; nothing when one is no digit.
std::optional<std::int64_t> head_of(std::string_view text) {
  std::size_t left = text.size() - kEight;
  std::int64_t value = 0;
  for (; left > kEight; --left, text.remove_prefix(1)) {
    if (!is_digit(text.front())) return std::nullopt;
    value = value * 10 + (text.front() - '0');
  }
  const std::uint64_t digits = digit_values(text.data()) << (kEight * (kEight - left));
  if (no_digits(digits) != 0) return std::nullopt;
  return value * 100'000'000 + joined(digits);
}

/// "123" to "123.456": what the writers of traces give. Nothing for any other form.
std::optional<std::int64_t> plain_nanos(std::string_view text) {
  constexpr std::size_t kAlwaysFits = 15;  // digits before the point
  if (std::endian::native != std::endian::little || text.empty() || text.size() > kAlwaysFits + 4) return std::nullopt;
  std::uint64_t digits = last_eight(text);
  std::int64_t above = 100'000'000, scale = 1000;
  std::size_t whole = text.size();
  const std::uint64_t others = no_digits(digits);
  if (others != 0) {
    // The point, with one to three digits after it and one before it.
    const auto at = static_cast<std::size_t>(std::countr_zero(others)) / kEight, decimals = kEight - 1 - at;
    if (decimals == 0 || decimals > 3 || whole <= decimals + 1 || (others & (others - 1)) != 0) return std::nullopt;
    whole -= decimals + 1;
    if (text[whole] != '.') return std::nullopt;
    const std::uint64_t before = (std::uint64_t{1} << (kEight * at)) - 1, after = ~((before << kEight) | 0xffU);
    digits = ((digits & before) << kEight) | (digits & after);
    above = 10'000'000;
    constexpr std::array<std::int64_t, 4> kScale = {1000, 100, 10, 1};
    scale = kScale[decimals];
  }
  if (whole > kAlwaysFits || (whole > 1 && text.front() == '0')) return std::nullopt;
  std::int64_t head = 0;
  if (text.size() > kEight) {
    const auto before = head_of(text);
    if (!before) return std::nullopt;
    head = *before;
  }
  return (head * above + joined(digits)) * scale;
}

/// Of any JSON number. Apart from plain_nanos(), which is slower where the compiler mixes the two.
[[gnu::noinline]] std::optional<std::int64_t> any_nanos(std::string_view text) {
  const auto digits = read_digits(text);
  if (!digits) return std::nullopt;
  constexpr int kNanosPerMicroDigits = 3;
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 10 - 1;
  const std::int64_t kept = static_cast<std::int64_t>(digits->whole.size()) + digits->exponent + kNanosPerMicroDigits;
  std::int64_t value = 0;
  for (std::int64_t i = 0; i < kept; ++i) {
    if (value > kLimit) return std::nullopt;
    if (value == 0 && i >= digits->size()) break;
    value = value * 10 + digits->at(i);
  }
  if (kept >= 0 && digits->at(kept) >= 5) ++value;
  return digits->negative ? -value : value;
}

}  // namespace

std::optional<std::int64_t> nanos_of_micros(std::string_view text) {
  const auto plain = plain_nanos(text);
  return plain ? plain : any_nanos(text);
}

}  // namespace bk::trace
