#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bracket/history.h"
#include "bracket/plan.h"
#include "stats/power.h"
#include "store/store.h"

namespace bk::bracket {

/// How one boot of a profile scatters, as far as is known before the first one.
struct BootNoise {
  double sd = stats::kAssumedBootSd;  ///< log scale, of a boot measured as planned
  double df = 0;                      ///< 0: assumed
  stats::Basis basis = stats::Basis::kRaw;
  int boots = 0, discounted = 0;  ///< earlier base boots that it rests on
  [[nodiscard]] bool assumed() const { return !(df > 0); }
};
[[nodiscard]] BootNoise boot_noise(const BaseHistory& history, const Plan& plan);

/// What a plan of `boots` boots can do.
struct PlanLine {
  int boots = 0;
  std::optional<double> resolves;  ///< log scale: the smallest effect that is called in kPower of brackets
  std::optional<double> seconds;   ///< nothing before the first boot of the profile is done
  std::string reason;              ///< why `resolves` is missing
};

struct Forecast {
  BootNoise noise;
  PlanLine planned;
  std::vector<PlanLine> others;     ///< shorter and longer plans, by boots
  std::optional<int> boots_needed;  ///< alternating, for the effect that was asked for; nothing above kMostBoots
};

/// @param effect  log scale; an effect whose number of boots is asked for.
[[nodiscard]] Result<Forecast> forecast(store::Database& database, const Plan& plan, std::optional<double> effect);

/// The planned line alone, by an assumed boot deviation.
[[nodiscard]] Forecast forecast_without_history(const Plan& plan);

/// "calls an effect of 1.2 % in 8 of 10 brackets …", and what that rests on, one line.
[[nodiscard]] std::string forecast_text(const Forecast& forecast);

/// What is known of how boots differ, one clause.
[[nodiscard]] std::string noise_text(const BootNoise& noise);
/// "1.2 %", "more than 1000 %".
[[nodiscard]] std::string resolution_text(double resolves);

[[nodiscard]] Json to_json(const Forecast& forecast);

}  // namespace bk::bracket
