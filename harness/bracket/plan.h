#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "boot/arm.h"
#include "boot/profile.h"
#include "leg/decode.h"
#include "stats/assess.h"

namespace bk::bracket {

/// What every boot measures and how it is judged.
struct PlanOptions {
  int boots = 3;                ///< 2 or more; base, cand, base, cand …
  std::vector<int> looks = {};  ///< boots after which an early end is asked for, the last is all; empty: no early end
  leg::DecodePlan decode;       ///< the C = 1 cell is judged
  std::vector<std::int64_t> gate_contexts = {2048};  ///< check-quality's contexts; empty: no gate
  int greedy_tokens = 0;  ///< most tokens of a greedy text kept for greedy-divergence; 0: none are kept
  double alpha = 0.05;
  double band = 0.005;  ///< practical band as a ratio
  std::uint64_t seed = 1;
};

/// A knob that an arm changes.
struct KnobChange {
  std::string knob, base_value, cand_value;
};

/// Everything that is decided before the first boot, and stored then.
struct Plan {
  std::string profile, profile_hash,
      profile_text;                  ///< profile_text: boot::canonical_text(), so that a change can be named
  boot::KnobMap base, cand;          ///< what each arm sets
  std::string base_hash, cand_hash;  ///< boot::arm_hash()
  /// The one knob that differs; empty where none does. In a combined arm of a matrix several: "A,B", "0,0", "1,1".
  std::string knob, base_value, cand_value;
  std::string metric = "decode_tok_s", cell = "C=1";  ///< primary
  stats::Better better = stats::Better::kHigher;
  std::vector<stats::Arm> order;  ///< shape: one a boot
  PlanOptions options;
  Json family = {};  ///< of a matrix or sweep and of its comparisons, see family_plan.h; else null

  [[nodiscard]] std::string axis() const;  ///< "GATEFUSE 0 -> 1", "no difference", "baseline", "sweep X 0,1,2"
  [[nodiscard]] std::vector<KnobChange> changes() const;  ///< every knob in which the arms differ
  [[nodiscard]] bool is_baseline() const;                 ///< base boots alone: nothing is compared
  [[nodiscard]] const boot::KnobMap& knobs(stats::Arm arm) const { return arm == stats::Arm::kBase ? base : cand; }
  [[nodiscard]] stats::Rules rules() const;
  /// The rules after `boots` boots: with looks, the share of alpha that this look may spend.
  [[nodiscard]] stats::Rules rules_at(std::size_t boots) const;
};

/// A first look after `first` boots, then after every two more until `most`. kUsage when the first leaves no degree of
/// freedom, or `most` is not above it.
[[nodiscard]] Result<std::vector<int>> looks_between(int first, int most);

/// base, cand, base, cand … for `boots` boots.
[[nodiscard]] std::vector<stats::Arm> boot_order(int boots);

/// Checks the arms against the profile. kUsage: unknown knob or value, arms that set different knobs or do not differ
/// in exactly one, a plan without the cell C=1, fewer than 2 boots.
[[nodiscard]] Result<Plan> make_plan(const boot::Profile& profile, const boot::KnobMap& base, const boot::KnobMap& cand,
                                     const PlanOptions& options);

/// The same for arms that may differ in several knobs: what a matrix combines. `order` is left empty.
[[nodiscard]] Result<Plan> make_combined_plan(const boot::Profile& profile, const boot::KnobMap& base,
                                              const boot::KnobMap& cand, const PlanOptions& options);

/// Boots that all run one configuration: base boots alone build history, alternating arms are a bracket whose answer is
/// known to be "no difference".
[[nodiscard]] Result<Plan> make_same_plan(const boot::Profile& profile, const boot::KnobMap& knobs,
                                          const std::vector<stats::Arm>& order, const PlanOptions& options);

[[nodiscard]] Json to_json(const Plan& plan);
/// kParse when a member is missing or of the wrong kind.
[[nodiscard]] Result<Plan> plan_from_json(const Json& json);
/// SHA-256 of to_json(): two plans with one hash measure the same thing.
[[nodiscard]] std::string config_hash(const Plan& plan);

/// What changed between a stored plan and the profile as it is now, one line; empty when nothing did.
[[nodiscard]] std::string what_changed(const Plan& stored, const boot::Profile& now);

/// Tokens that one boot generates: the scale of a time estimate.
[[nodiscard]] std::int64_t tokens_per_boot(const Plan& plan);

}  // namespace bk::bracket
