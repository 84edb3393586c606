#include "stats/pairs.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "stats/random.h"

using namespace bk::stats;

namespace {

struct Scene {
  double effect = 0, noise = 0.01, luck = 0.06, boot_sd = 0;
  int pairs = 30;
  bool stall = false;
};

/// Rates of pairs in one boot, or in two when boot_sd says how boots differ.
std::vector<Pair> simulate(const Scene& w, Random& random) {
  const double base_boot = w.boot_sd * random.normal(), cand_boot = w.boot_sd * random.normal();
  const auto sample = [&](double level) {
    const double acceptance = 0.31 + w.luck * (2 * random.uniform() - 1);
    return SampleValue{std::exp(level + std::log1p(5 * acceptance) + w.noise * random.normal()), acceptance, 5.0};
  };
  std::vector<Pair> pairs;
  for (int i = 0; i < w.pairs; ++i) {
    Pair pair;
    pair.base = sample(4 + base_boot);
    pair.cand = sample(4 + cand_boot + w.effect);
    pairs.push_back(pair);
  }
  if (w.stall) pairs[2].cand.value *= 0.3;
  return pairs;
}

double significant_pct(const Scene& w, const std::optional<BootVariance>& boot, int times) {
  Random random(17);
  int count = 0;  // few pairs: the sign-flip test beside each costs the most
  for (int i = 0; i < times; ++i) count += assess_pairs(simulate(w, random), Rules{}, boot).assessment.significant;
  return 100.0 * count / times;
}

}  // namespace

TEST_CASE("all signs of few differences are counted", "[stats]") {
  bool exact = false;
  // Sums of ±1 ±2 ±3 as far from 0 as 6: two of eight.
  CHECK(*sign_flip_p({1, 2, 3}, exact) == Approx(0.25));
  CHECK(exact);
  CHECK(*sign_flip_p({1, -1}, exact) == 1);
  CHECK_FALSE(sign_flip_p({1}, exact));
  CHECK(*sign_flip_p(std::vector<double>(16, 0.5), exact) == Approx(2.0 / 65536));
  CHECK(exact);
}

TEST_CASE("many differences are thrown at random, with the same answer each time", "[stats]") {
  Random random(3);
  std::vector<double> differences;
  differences.reserve(40);
  for (int i = 0; i < 40; ++i) differences.push_back(0.4 + random.normal());
  bool exact = true;
  const auto p = sign_flip_p(differences, exact);
  CHECK_FALSE(exact);
  CHECK(*p == *sign_flip_p(differences, exact));
  CHECK(*p > 0);
  CHECK(*p < 0.05);
}

TEST_CASE("pairs in one boot find a small effect at equal acceptance", "[stats]") {
  Random random(5);
  Scene w;
  w.effect = 0.03;
  const PairAssessment p = assess_pairs(simulate(w, random), Rules{}, std::nullopt);
  const Assessment& a = p.assessment;
  CHECK(a.state == State::kBetter);
  CHECK(a.basis == Basis::kEqualAcceptance);
  CHECK(100 * *a.estimates.equal_acceptance.estimate == Approx(3).margin(1));
  CHECK(*a.estimates.equal_acceptance.half_width < 0.5 * *a.estimates.raw.half_width);
  CHECK(p.check.pairs == 30);
  CHECK_FALSE(p.check.boots_counted);
  CHECK(a.sentence.find("by 30 pairs; at equal acceptance") != std::string::npos);
  w.stall = true;
  CHECK(assess_pairs(simulate(w, random), Rules{}, std::nullopt).assessment.state == State::kBetter);
}

TEST_CASE("without an effect, pairs in one boot and between two keep to alpha", "[stats]") {
  // 2,000 brackets have a standard error of 0.5 points.
  Scene one;
  one.pairs = 12;
  CHECK(significant_pct(one, std::nullopt, 2000) < 6.5);
  Scene live = one;
  live.boot_sd = 0.01;
  CHECK(significant_pct(live, std::nullopt, 500) > 40);  // the pair as unit alone, which is what this avoids
  CHECK(significant_pct(live, BootVariance{0.01 * 0.01, 11}, 2000) < 6.5);
}

TEST_CASE("two live boots of which nothing is known have no interval", "[stats]") {
  Random random(5);
  const PairAssessment p = assess_pairs(simulate(Scene{}, random), Rules{}, BootVariance{});
  CHECK(p.assessment.state == State::kInconclusive);
  CHECK(p.assessment.reason == "boot_variance_unknown");
  CHECK_FALSE(p.assessment.estimates.raw.p);
  const PairAssessment counted = assess_pairs(simulate(Scene{}, random), Rules{}, BootVariance{1e-4, 11});
  CHECK(counted.check.boots_counted);
  CHECK(counted.assessment.sentence.find("Two live boots") != std::string::npos);
}

TEST_CASE("pairs that cannot answer say why", "[stats]") {
  CHECK(assess_pairs({}, Rules{}, std::nullopt).assessment.reason == "no_samples");
  CHECK(assess_pairs({{{60, {}}, {62, {}}}}, Rules{}, std::nullopt).assessment.reason == "no_degrees_of_freedom");
  const std::vector<Pair> alike(5, Pair{{60, {}}, {62, {}}});
  CHECK(assess_pairs(alike, Rules{}, std::nullopt).assessment.reason == "no_variance");
  std::vector<Pair> broken = alike;
  broken[0].cand.value = NAN;
  broken[1].base.value = 0;
  CHECK(assess_pairs(broken, Rules{}, std::nullopt).check.excluded == 2);
}
