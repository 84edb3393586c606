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
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  return fmt::format("{:.{}f}", *value, std::max(digits - 1 - exponent, 0));
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
