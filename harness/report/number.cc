#include "report/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace bk::report {
namespace {

/// "-0.00" is no number that people should wonder about.
std::string without_negative_zero(std::string text) {
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string signed_fixed(double value, int decimals) {
  std::string text = without_negative_zero(fmt::format("{:.{}f}", value, decimals));
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return text.starts_with('-') || zero ? text : "+" + text;
}

/// "-6.211" with the exponent 1 as "-62.11": the point moved, the digits kept. There are digits behind the point.
std::string plain_notation(std::string mantissa, int exponent) {
  const std::size_t first = mantissa.front() == '-' ? 1 : 0;
  mantissa.erase(first + 1, 1);
  if (exponent < 0) return mantissa.insert(first, "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0'));
  return mantissa.insert(first + 1 + static_cast<std::size_t>(exponent), ".");
}

std::string with_interval(std::optional<double> value, std::optional<double> lo, std::optional<double> hi, int decimals,
                          const char* unit) {
  if (!value || !std::isfinite(*value)) return kMissing;
  std::string text = signed_fixed(*value, decimals) + unit;
  if (lo && hi && std::isfinite(*lo) && std::isfinite(*hi)) {
    text += " [" + signed_fixed(*lo, decimals) + ", " + signed_fixed(*hi, decimals) + "]";
  }
  return text;
}

}  // namespace

std::string number(std::optional<double> value, int digits) {
  if (!value || !std::isfinite(*value)) return kMissing;
  if (*value == 0) return "0";
  // The exponent after rounding: 9.9996 to four digits is 10.00, not 10.000.
  const std::string scientific = fmt::format("{:.{}e}", *value, std::max(digits - 1, 0));
  const std::size_t e = scientific.find('e');
  const int exponent = std::stoi(scientific.substr(e + 1));
  if (exponent >= digits - 1) return fmt::format("{:.0f}", *value);
  return plain_notation(scientific.substr(0, e), exponent);
}

std::string fixed(std::optional<double> value, int decimals) {
  if (!value || !std::isfinite(*value)) return kMissing;
  return without_negative_zero(fmt::format("{:.{}f}", *value, decimals));
}

std::string percent(std::optional<double> value, int decimals) {
  return with_interval(value, std::nullopt, std::nullopt, decimals, " %");
}

std::string percent_interval(std::optional<double> value, std::optional<double> lo, std::optional<double> hi,
                             int decimals) {
  return with_interval(value, lo, hi, decimals, " %");
}

std::string points_interval(std::optional<double> value, std::optional<double> lo, std::optional<double> hi,
                            int decimals) {
  return with_interval(value, lo, hi, decimals, " pt");
}

}  // namespace bk::report
