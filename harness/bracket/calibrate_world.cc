#include "bracket/calibrate_world.h"

#include <cmath>

namespace bk::bracket {
namespace {

constexpr double kDraft = 5;
constexpr double kLeastAcceptance = 0.25, kGreatestAcceptance = 0.37;
constexpr double kStallChance = 0.01, kStalledRate = 0.3;

}  // namespace

std::vector<stats::BootValues> simulate_boots(const World& world, const std::vector<stats::Arm>& order,
                                              stats::Random& random) {
  std::vector<int> variants;
  variants.reserve(order.size());
  for (const stats::Arm arm : order) variants.push_back(arm == stats::Arm::kCand ? 1 : 0);
  return simulate_boots(world, variants, random);
}

double effect_of(const World& world, int variant) {
  if (variant == 0) return 0;
  const auto at = static_cast<std::size_t>(variant) - 1;
  return at < world.effects.size() ? world.effects[at] : world.effect;
}

std::vector<stats::BootValues> simulate_boots(const World& world, const std::vector<int>& variants,
                                              stats::Random& random) {
  const auto n = static_cast<int>(variants.size());
  const int step_at = n > 1 ? 1 + random.below(n - 1) : 0;
  std::vector<stats::BootValues> boots;
  for (int i = 0; i < n; ++i) {
    const int variant = variants[static_cast<std::size_t>(i)];
    stats::BootValues boot{variant == 0 ? stats::Arm::kBase : stats::Arm::kCand, static_cast<double>(i), {}, variant};
    double level = 4 + world.boot_sd * random.normal();
    if (n > 1) level += world.drift * i / (n - 1);
    if (i >= step_at) level += world.step;
    level += effect_of(world, variant);
    const int samples = world.unequal ? 3 + random.below(7) : world.samples;
    for (int s = 0; s < samples; ++s) {
      stats::SampleValue sample;
      double y = level + world.noise_sd * random.normal();
      if (world.luck) {
        sample.acceptance = kLeastAcceptance + (kGreatestAcceptance - kLeastAcceptance) * random.uniform();
        sample.k_eff = kDraft;
        y += std::log1p(kDraft * *sample.acceptance);
      }
      sample.value = std::exp(y);
      if (world.stalls && random.uniform() < kStallChance) sample.value *= kStalledRate;
      boot.samples.push_back(sample);
    }
    boots.push_back(std::move(boot));
  }
  return boots;
}

stats::HistoryGroup simulate_history(World world, int boots, stats::Random& random) {
  world.step = 0;
  return {simulate_boots(world, std::vector<stats::Arm>(static_cast<std::size_t>(boots), stats::Arm::kBase), random)};
}

std::vector<int> variants_of(const std::string& letters) {
  std::vector<int> variants;
  variants.reserve(letters.size());
  for (const char c : letters) variants.push_back(c - 'A');
  return variants;
}

std::vector<stats::Arm> arms_of(const std::string& letters) {
  std::vector<stats::Arm> order;
  for (const char c : letters) order.push_back(c == 'A' ? stats::Arm::kBase : stats::Arm::kCand);
  return order;
}

}  // namespace bk::bracket
