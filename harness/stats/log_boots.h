#pragma once
#include <optional>
#include <vector>

#include "stats/boot_values.h"

/// What estimates and history share: boots on the log scale, and the line by which luck is taken out.
namespace bk::stats {

/// One sample on the log scale.
struct LogSample {
  double y = 0;
  std::optional<double> acceptance, k_eff;
  double x = 0;  ///< the covariate, once acceptance is known to be there
};
struct LogBoot {
  Arm arm = Arm::kBase;
  double order = 0;
  std::vector<LogSample> samples;
  int variant = {};
  bool aside = {};  ///< of an arm that the question at hand is not about: it tells of drift, noise and slope alone
};

/// Usable samples (finite, positive) by boot, boots in time order, samples in a fixed order; boots without any are left
/// out. @param excluded  counts up by the samples left out.
[[nodiscard]] std::vector<LogBoot> log_boots(const std::vector<BootValues>& boots, int& excluded);

/// The pooled slope of log value on the covariate, its variance, and whether both arms share it.
struct Slope {
  double value = 0, variance = 0, df = 0;
  std::optional<double> parallel_p;
};

/// Nothing when the covariate has no spread within boots. set_covariate() first.
[[nodiscard]] std::optional<Slope> pooled_slope(const std::vector<LogBoot>& boots);

/// Tokens per step, 1 + k·acceptance, on the log scale where every sample says its k: a rate is steps a second times
/// tokens a step, so the line is straight. Else acceptance itself, a straight line over its usual range.
/// Every sample must have its acceptance. True: tokens per step.
bool set_covariate(std::vector<LogBoot>& boots);

/// Each boot's median log value.
[[nodiscard]] std::vector<double> boot_medians(const std::vector<LogBoot>& boots);

/// Mean of one number over each boot's samples. shape: one a boot
template <class Get>
std::vector<double> boot_means(const std::vector<LogBoot>& boots, Get get) {
  std::vector<double> means;
  for (const LogBoot& boot : boots) {
    double mean = 0;
    for (const LogSample& s : boot.samples) mean += get(s) / static_cast<double>(boot.samples.size());
    means.push_back(mean);
  }
  return means;
}

}  // namespace bk::stats
