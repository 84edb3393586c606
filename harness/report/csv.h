#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bk::report {

/// One field after RFC 4180: quoted when it holds a comma, a quote, CR, LF or blanks at an end.
[[nodiscard]] std::string csv_field(std::string_view text);
/// Fields joined by commas, ended by LF.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

}  // namespace bk::report
