#include "stats/sentence.h"

#include <fmt/core.h>

namespace bk::stats {
namespace {

std::string interval_text(const Effect& e) {
  if (!e.estimate) return "an unknown effect";
  if (!e.half_width) return fmt::format("{:+.2f} %", to_pct(*e.estimate));
  return fmt::format("{:+.2f} % [{:+.2f}, {:+.2f}]", to_pct(*e.estimate), to_pct(*e.estimate - *e.half_width),
                     to_pct(*e.estimate + *e.half_width));
}

std::string how_many(const Assessment& a, const Effect& effect) {
  const std::string basis =
      a.boot_sd_assumed ? fmt::format(" (boot deviation of {:.0f} % assumed)", 100 * kAssumedBootSd) : std::string();
  if (!effect.estimate) return "boot base, candidate, base at least";
  if (a.boots_needed)
    return fmt::format("about {} boots in all would settle an effect of this size{}", *a.boots_needed, basis);
  return fmt::format("an effect of this size would take more than {} boots{}", kMostBoots, basis);
}

std::string why_open(const Assessment& a, const Effect& effect, const Rules& rules) {
  const std::string seen = interval_text(effect);
  const double band = 100 * rules.band;
  if (a.reason == "no_samples") return "No boot has a usable sample";
  if (a.reason == "one_arm") return "Only one arm has usable samples";
  if (a.reason == "arm_not_told_from_drift") {
    return fmt::format("{} boots in this order cannot tell the candidate from drift", a.estimates.boots);
  }
  if (a.reason == "no_degrees_of_freedom") {
    return fmt::format("{} boots leave no degree of freedom to tell {} from boot noise", a.estimates.boots, seen);
  }
  if (a.reason == "no_variance") return fmt::format("The boots of each arm agree exactly, so {} has no interval", seen);
  if (a.reason == "step_not_excluded") {
    return fmt::format("{} could be a step of {:+.2f} % between two boots, larger than this profile's boots differ",
                       seen, to_pct(effect.step.value_or(0)));
  }
  if (a.reason == "interval_touches_band") {
    return fmt::format("{} differs from zero but its interval does not clear the practical band of {:.2g} %", seen,
                       band);
  }
  if (a.reason == "not_after_holm") return fmt::format("{} does not hold once all declared metrics are counted", seen);
  if (a.reason == "acceptance_apart") {
    return fmt::format(
        "{} compares arms whose acceptance does not overlap, and the raw effect ({}) does not confirm it", seen,
        interval_text(a.estimates.raw));
  }
  return fmt::format("{} is compatible with no effect", seen);
}

}  // namespace

std::string sentence_of(const Assessment& a, const Rules& rules) {
  const Effect& effect = a.basis == Basis::kRaw ? a.estimates.raw : a.estimates.equal_acceptance;
  std::string text;
  switch (a.state) {
    case State::kBetter:
    case State::kWorse:
      text = fmt::format("The candidate is {}: {}, beyond the practical band of {:.2g} %", to_string(a.state),
                         interval_text(effect), 100 * rules.band);
      break;
    case State::kSame:
      text = fmt::format("No difference that matters: {} lies inside the practical band of {:.2g} %",
                         interval_text(effect), 100 * rules.band);
      break;
    case State::kInconclusive:
    case State::kVoid:
      text = why_open(a, effect, rules) + "; " + how_many(a, effect);
      break;
  }
  if (a.acceptance_moved && a.estimates.acceptance.estimate) {
    text += fmt::format("; acceptance moved by {:+.1f} points and is part of the effect",
                        100 * *a.estimates.acceptance.estimate);
  } else if (a.basis == Basis::kEqualAcceptance) {
    text += "; at equal acceptance";
  }
  text += ".";
  const int outlying = a.estimates.outlying_samples;
  if (outlying > 0) {
    text += fmt::format(" {} {} far from the others of {} boot; kept, and of little weight.", outlying,
                        outlying == 1 ? "sample lies" : "samples lie", outlying == 1 ? "its" : "their");
  }
  return text;
}

std::string pair_sentence(const PairAssessment& pairs, const Rules& rules) {
  const Assessment& a = pairs.assessment;
  const Estimates& e = a.estimates;
  const Effect& effect = a.basis == Basis::kRaw ? e.raw : e.equal_acceptance;
  const double band = 100 * rules.band;
  std::string text;
  if (effect.reason == "boot_variance_unknown") {
    text = fmt::format("{} compares two live boots of which nobody knows how they differ; build history first",
                       interval_text(effect));
  } else if (!effect.p) {
    text = fmt::format("{} pairs leave no interval ({})", pairs.check.pairs, a.reason);
  } else if (a.state == State::kBetter || a.state == State::kWorse) {
    text = fmt::format("The candidate is {}: {}, beyond the practical band of {:.2g} %, by {} pairs",
                       to_string(a.state), interval_text(effect), band, pairs.check.pairs);
  } else if (a.state == State::kSame) {
    text = fmt::format("No difference that matters: {} lies inside the practical band of {:.2g} %, by {} pairs",
                       interval_text(effect), band, pairs.check.pairs);
  } else {
    text = why_open(a, effect, rules) + fmt::format(", by {} pairs", pairs.check.pairs);
  }
  if (a.basis == Basis::kEqualAcceptance) text += "; at equal acceptance";
  text += ".";
  if (pairs.check.boots_counted) {
    text +=
        " Two live boots: taking turns removes drift and not the difference between boots, which is in the interval.";
  }
  return text;
}

}  // namespace bk::stats
