#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stats/boot_values.h"
#include "stats/contrast.h"

namespace bk::stats {

enum class State { kBetter, kWorse, kSame, kInconclusive, kVoid };
const char* to_string(State state);

/// Boot-to-boot variance known from elsewhere (the profile's earlier base boots): it joins the bracket's own by
/// degrees of freedom.
struct BootVariance {
  double variance = 0;
  double df = 0;
};
/// What is known beforehand about each of the three effects, on that effect's own scale.
struct History {
  std::optional<BootVariance> raw, equal_acceptance, acceptance;
};

/// The plan's part of an assessment.
struct Rules {
  Better better = Better::kHigher;
  double alpha = 0.05;
  double band = 0.005;  ///< practical band as a ratio: effects within it do not matter
  bool drift = true;    ///< linear drift over boots is in the model
  History history = {};
};

/// One estimated effect of the candidate. Log scale for values; points (0..1) for acceptance.
struct Effect {
  std::optional<double> estimate;
  std::optional<double> se, half_width, p;  ///< half_width of the 1 - alpha interval
  double df = 0;
  double residual_df = 0;             ///< of the bracket alone
  std::optional<double> residual_sd;  ///< between boots, after arm and drift
  double unscaled_variance = 0;
  std::optional<double> step_p, step;  ///< a step between two boots, where boot noise is known mostly from history
  double step_room = 0;                ///< what it adds to half_width before the effect is called
  std::string reason;                  ///< why something above is missing; empty otherwise
};

/// What the values are adjusted by: acceptance itself, or log(1 + k·acceptance) where each sample's k is known.
enum class Covariate { kAcceptance, kLogTokensPerStep };
const char* to_string(Covariate covariate);

/// Everything that the data say about one metric, before anything is decided.
struct Estimates {
  Effect raw;               ///< log scale
  Effect equal_acceptance;  ///< log scale, at the boots' mean acceptance
  Effect acceptance;        ///< the candidate's own effect on raw acceptance, in points (0.01 = one point)
  Effect drift;             ///< log scale per boot, from the raw model
  Covariate covariate = Covariate::kAcceptance;
  std::optional<double> slope;       ///< log value per unit of the covariate, pooled within boots
  std::optional<double> parallel_p;  ///< p of "both arms have one slope"
  std::optional<double> mean_acceptance;
  bool acceptance_overlaps = true;  ///< false: no sample of one arm lies in the other's range of acceptance
  /// Between samples of one boot, log scale: as measured, and at equal acceptance. pair_scale(), so that a stalled
  /// request does not move it.
  std::optional<double> within_sd, within_sd_equal_acceptance;
  int boots = 0, base_boots = 0, cand_boots = 0;
  int excluded_samples = 0;  ///< not finite or not positive
  int outlying_samples = 0;  ///< far from their boot's others (kOutlyingInScales); they are kept
};

/// Which of the three effects the decision rests on.
enum class Basis { kRaw, kEqualAcceptance };
const char* to_string(Basis basis);

/// What the tool says. Reason codes: "effect_beyond_band", "interval_inside_band", "interval_spans_zero",
/// "step_not_excluded", "interval_touches_band", "acceptance_apart", "not_after_holm", "no_degrees_of_freedom",
/// "no_variance", "arm_not_told_from_drift", "one_arm", "no_samples"; for void, the cause.
struct Assessment {
  State state = State::kInconclusive;
  std::string reason;
  std::string sentence;  ///< one sentence for people
  Basis basis = Basis::kRaw;
  bool significant = false;          ///< p < alpha and no step explains it: an effect, whether it matters or not
  bool acceptance_moved = false;     ///< then it is part of the effect, and the raw effect decides
  std::optional<int> boots_needed;   ///< boots in all, alternating, that would resolve the effect seen
  bool boot_sd_assumed = false;      ///< boots_needed rests on kAssumedBootSd
  std::optional<double> p_adjusted;  ///< after Holm, where several metrics were declared
  Estimates estimates;
};

/// Counts up whenever the same samples and history would be assessed otherwise than before, so that an assessment can
/// be made again and compared.
inline constexpr int kRuleVersion = 2;
/// The share of alpha that the question "did acceptance move?" spends. Answered with yes, the raw effect decides; with
/// no, the effect at equal acceptance does, at the alpha that is left: both ways together stay within alpha.
inline constexpr double kAcceptanceShare = 0.1;
/// Slopes count as not parallel below this p: the effect then depends on the acceptance, and the raw effect decides.
inline constexpr double kParallelAlpha = 0.01;
/// Used for boots_needed alone, when the bracket has no degree of freedom to estimate it with.
inline constexpr double kAssumedBootSd = 0.01;
/// No plan is advised beyond this; more boots than that means another instrument.
inline constexpr int kMostBoots = 200;

/// Log-scale least squares over boots with arm and linear drift; never fails: what is missing carries its reason.
[[nodiscard]] Estimates estimate(const std::vector<BootValues>& boots, const Rules& rules);
/// The same of a contrast among several arms, by BootValues::variant: one model over the boots of all arms, so that
/// arms that the contrast leaves out tell of drift and noise. Positive weights are the candidate's side.
[[nodiscard]] Estimates estimate(const std::vector<BootValues>& boots, const Contrast& contrast, const Rules& rules);

/// One metric, estimated and decided.
[[nodiscard]] Assessment assess(const std::vector<BootValues>& boots, const Rules& rules);
[[nodiscard]] Assessment assess(const std::vector<BootValues>& boots, const Contrast& contrast, const Rules& rules);

/// The decision alone, for estimates that were made another way. Leaves `sentence` and `boots_needed` empty.
[[nodiscard]] Assessment decide(Estimates estimates, const Rules& rules);

/// The effect that an assessment's decision rests on.
[[nodiscard]] const Effect& deciding(const Assessment& assessment);

/// Smallest odd number of alternating boots (base first), more than `boots`, whose interval would clear the band around
/// an effect of this size, or lie inside it. Nothing above kMostBoots.
/// @param effect  log scale.  @param boot_sd  log scale, after arm and drift.  @param more_df  from history.
[[nodiscard]] std::optional<int> boots_to_resolve(double effect, double boot_sd, int boots, const Rules& rules,
                                                  double more_df = 0);

/// Holm's step-down adjustment; absent p values stay absent and do not count.
[[nodiscard]] std::vector<std::optional<double>> holm(const std::vector<std::optional<double>>& p);

/// A metric of several that were declared together.
struct Declared {
  std::vector<BootValues> boots;
  Rules rules;
};
/// All of them, with Holm's correction over the metrics. shape: one assessment a metric, in order.
[[nodiscard]] std::vector<Assessment> assess_all(const std::vector<Declared>& metrics);

/// A measurement that may not be used: nothing is estimated.
[[nodiscard]] Assessment void_assessment(std::string reason, std::string sentence);

/// Percent of a log-scale effect: 100·(exp(x) - 1).
[[nodiscard]] double to_pct(double log_effect);

}  // namespace bk::stats
