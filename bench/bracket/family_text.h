#pragma once
#include <iosfwd>
#include <string>

#include "bracket/family_forecast.h"
#include "bracket/family_view.h"

namespace bk::bracket_tool {

/// The boots in their order, what every question can be told by, and the time; before the first boot.
void print_family_plan(std::ostream& out, const bracket::Family& family, const bracket::FamilyForecast& forecast);

/// One screen about a matrix or sweep.
void print_family(std::ostream& out, const bracket::FamilyView& view);

/// The same as table or json.
[[nodiscard]] Status show_family(const bracket::FamilyView& view, const std::string& format, std::ostream& out);

}  // namespace bk::bracket_tool
