#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "stats/history.h"
#include "stats/random.h"

namespace bk::bracket {

/// What is simulated: boots of a world whose truth is known. Sizes are on the log scale (0.01 = 1 %).
struct World {
  double effect = 0;                 ///< of the candidate
  std::vector<double> effects = {};  ///< of the variants 1, 2 … of a family, instead
  double boot_sd = 0.01;             ///< normal, one draw a boot
  double noise_sd = kNoiseSd;
  int samples = 6;
  double drift = 0;      ///< from the first boot of a session to its last, linear
  double step = 0;       ///< once, before one of the later boots, each as likely
  bool luck = false;     ///< raw acceptance of each sample uniform in 25..37 %, k = 5
  bool stalls = false;   ///< one sample in a hundred takes more than three times as long
  bool unequal = false;  ///< 3..9 samples a boot instead of the same number
  /// Gives the median of six samples a standard error of 0.3 %.
  static constexpr double kNoiseSd = 0.003 / 0.4646;
};

/// One session's boots in this order.
[[nodiscard]] std::vector<stats::BootValues> simulate_boots(const World& world, const std::vector<stats::Arm>& order,
                                                            stats::Random& random);

/// The same of several arms; variants beyond `effects` have `effect`.
[[nodiscard]] std::vector<stats::BootValues> simulate_boots(const World& world, const std::vector<int>& variants,
                                                            stats::Random& random);
[[nodiscard]] double effect_of(const World& world, int variant);

/// `boots` base boots of the same world in an earlier session, without the step.
[[nodiscard]] stats::HistoryGroup simulate_history(World world, int boots, stats::Random& random);

/// "ABBA" as arms.
[[nodiscard]] std::vector<stats::Arm> arms_of(const std::string& letters);
/// "ABCA" as variants, A is 0.
[[nodiscard]] std::vector<int> variants_of(const std::string& letters);

}  // namespace bk::bracket
