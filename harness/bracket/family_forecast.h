#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bracket/family_plan.h"
#include "bracket/forecast.h"

namespace bk::bracket {

/// What a question can be told by before the first boot.
struct QuestionForecast {
  FamilyQuestion question;
  std::optional<double> resolves;  ///< log scale: called with kPower at the alpha that it starts with
  std::string reason;              ///< why that is missing
};

struct FamilyForecast {
  BootNoise noise;
  double alpha = 0;  ///< that each question starts with
  std::vector<QuestionForecast> questions;
  std::optional<double> seconds;  ///< of all boots; nothing before the first boot of the profile is done
};

[[nodiscard]] Result<FamilyForecast> forecast(store::Database& database, const Family& family);
/// By an assumed boot deviation, and without a time.
[[nodiscard]] FamilyForecast forecast_without_history(const Family& family);

}  // namespace bk::bracket
