#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bracket/plan.h"
#include "stats/contrast.h"

/// Matrix and sweep: several arms of one profile that share base boots. Arms are variants 1, 2 …; 0 is the base.
namespace bk::bracket {

/// A knob and its values, the base's first.
struct KnobAxis {
  std::string knob;
  std::vector<std::string> values;
};

struct FamilySpec {
  enum class Kind { kMatrix, kSweep };
  Kind kind = Kind::kSweep;
  std::vector<KnobAxis> axes;  ///< one of a sweep
  boot::KnobMap set;           ///< of every arm
  int rounds = 2;              ///< boots of each arm
};
const char* to_string(FamilySpec::Kind kind);  ///< "matrix", "sweep"

/// Member of a comparison's Plan::family: boots of its matrix or sweep after which it is judged. Later base boots are
/// none of its.
inline constexpr const char* kJudgedAfter = "judged_after_boots";

/// More arms than this, base included, are asked in several families: each pays for all of them with its alpha.
inline constexpr int kMostArms = 16;

/// "GATEFUSE=0,1" as an axis; a `base` that is not among the values goes before them.
/// kUsage: no values, one value, a value that is there twice.
[[nodiscard]] Result<KnobAxis> parse_axis(std::string_view text, const std::string& base, const std::string& flag);

/// An arm that is compared with base, as a bracket of its own.
struct FamilyArm {
  Plan plan;
  int stage = 1;
  std::vector<int> singles;                ///< of a combined arm: the variants that change one of its knobs each
  [[nodiscard]] std::string name() const;  ///< "GATEFUSE=1", "GATEFUSE=1,ONESHOT=1"
};

struct FamilyStep {
  int variant = 0;
  int stage = 1;
};

struct Family {
  FamilySpec spec;
  Plan whole;                   ///< the base boots, and what is stored for the family
  std::vector<FamilyArm> arms;  ///< variant v is arms[v - 1]
  std::vector<FamilyStep> order;

  [[nodiscard]] const FamilyArm& arm(int variant) const { return arms[static_cast<std::size_t>(variant) - 1]; }
  [[nodiscard]] std::string name(int variant) const;  ///< the base's, too
  [[nodiscard]] int stages() const { return order.back().stage; }
  [[nodiscard]] std::vector<int> variants() const;  ///< without the base
};

/// A question that a family answers.
struct FamilyQuestion {
  int variant = 0;
  bool interaction = false;  ///< what a combined arm does beyond the sum of its single arms; else: against base
  stats::Contrast contrast;
  int stage = 1;
};
/// Every planned question: each arm against base, then of a matrix each combined arm's interaction.
/// Each is asked once, at the end of its stage, and starts with an equal share of alpha (Bonferroni over the stages,
/// Holm within one). The combined arms boot only after the single ones passed, so that the same question may not be
/// asked again with their boots: a second look would have to be paid for.
[[nodiscard]] std::vector<FamilyQuestion> questions(const Family& family);

/// The order of boots. Every round boots each arm of its stage once, between two base boots; a second round runs the
/// arms of the first backwards, so that all arms have the same mean place in time and a linear drift cancels from every
/// comparison, as in ABBA. Which arm comes first is drawn by the seed, so that no other change in time can favour a
/// value for its place. shape: starts and ends with the base.
/// Source: Cox, Planning of Experiments (1958), ch. 14, on orders that trends do not confound.
[[nodiscard]] std::vector<FamilyStep> family_order(const std::vector<FamilyArm>& arms, int rounds, std::uint64_t seed);

/// kUsage: what make_plan() refuses, a matrix of fewer than two knobs, a knob that is there twice, too many arms,
/// values that the profile does not allow together.
[[nodiscard]] Result<Family> make_family(const boot::Profile& profile, const FamilySpec& spec,
                                         const PlanOptions& options);

/// The family that stored plans are of, without the profile that they were made from. kUsage for a plan that is of
/// none, kUnavailable when a comparison is missing, kMismatch when one is not what the whole says.
[[nodiscard]] Result<Family> family_of(const Plan& whole, const std::vector<Plan>& comparisons);
/// Whether a plan is the whole of a matrix or sweep.
[[nodiscard]] bool is_family(const Plan& plan);

}  // namespace bk::bracket
