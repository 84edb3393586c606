#include "trace/decimal.h"

#include <algorithm>
#include <limits>

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

/// "123" to "123.456": what the writers of traces give. Nothing for any other form.
std::optional<std::int64_t> plain_nanos(std::string_view text) {
  constexpr std::size_t kAlwaysFits = 15;  // digits before the point
  if (text.empty() || text.size() > kAlwaysFits + 4) return std::nullopt;
  std::int64_t value = 0;
  std::size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) value = value * 10 + (text[at] - '0');
  if (at == 0 || at > kAlwaysFits || (at > 1 && text.front() == '0')) return std::nullopt;
  const std::size_t decimals = at == text.size() ? 0 : text.size() - at - 1;
  const bool has_rest = at < text.size();
  if (has_rest && (text[at] != '.' || decimals == 0 || decimals > 3)) return std::nullopt;
  for (++at; at < text.size(); ++at) {
    if (!is_digit(text[at])) return std::nullopt;
    value = value * 10 + (text[at] - '0');
  }
  constexpr std::int64_t kScale[] = {1000, 100, 10, 1};
  return value * kScale[decimals];
}

}  // namespace

std::optional<std::int64_t> nanos_of_micros(std::string_view text) {
  if (const auto plain = plain_nanos(text)) return plain;
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

}  // namespace bk::trace
