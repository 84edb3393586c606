#include "scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bk::bracket_tool {
namespace {

constexpr int kHalfScale = 24;  ///< characters on either side of 0

int place(double value, double reach) {
  return kHalfScale + static_cast<int>(std::lround(kHalfScale * std::clamp(value / reach, -1.0, 1.0)));
}

}  // namespace

std::string scale_line(double reach) {
  const std::string low = fmt::format("{:+.3g} %", -reach), high = fmt::format("{:+.3g} %", reach);
  const auto pad = [](const std::string& text) { return std::max(1, kHalfScale - static_cast<int>(text.size())); };
  return low + std::string(static_cast<std::size_t>(pad(low)), ' ') + "0" +
         std::string(static_cast<std::size_t>(pad(high)), ' ') + high;
}

std::string bar(double low, double value, double high, double reach) {
  std::string text(2 * kHalfScale + 1, ' ');
  const auto at = [&](double v) { return static_cast<std::size_t>(place(v, reach)); };
  for (std::size_t i = at(low); i <= at(high); ++i) text[i] = '-';
  text[kHalfScale] = '|';
  text[at(low)] = '[';
  text[at(high)] = ']';
  text[at(value)] = 'o';
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace bk::bracket_tool
