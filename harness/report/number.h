#pragma once
#include <optional>
#include <string>

namespace bk::report {

/// What stands for a missing number.
inline constexpr const char* kMissing = "-";

/// `digits` significant digits, plain notation, trailing zeros kept: number(62.114, 4) = "62.11", number(0.5, 3) =
/// "0.500"; whole numbers beyond the digits keep all of theirs (number(123456, 3) = "123456"). "-" for nothing.
[[nodiscard]] std::string number(std::optional<double> value, int digits = 4);
/// `decimals` decimals: fixed(3.4666, 2) = "3.47". "-" for nothing.
[[nodiscard]] std::string fixed(std::optional<double> value, int decimals);
/// With its sign and the percent sign: percent(3.4666) = "+3.47 %", percent(0) = "0.00 %".
[[nodiscard]] std::string percent(std::optional<double> value, int decimals = 2);
/// "+3.47 % [+2.10, +4.80]"; without an interval "+3.47 %"; "-" for nothing.
[[nodiscard]] std::string percent_interval(std::optional<double> value, std::optional<double> lo,
                                           std::optional<double> hi, int decimals = 2);
/// The same for a difference in percentage points: "+1.20 pt [-0.40, +2.80]".
[[nodiscard]] std::string points_interval(std::optional<double> value, std::optional<double> lo,
                                          std::optional<double> hi, int decimals = 2);

}  // namespace bk::report
