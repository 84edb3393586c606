#include "stats/contrast.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace bk::stats {

Contrast difference(int other, int reference) {
  Contrast contrast(static_cast<std::size_t>(std::max(other, reference)) + 1, 0.0);
  contrast[static_cast<std::size_t>(other)] += 1;
  contrast[static_cast<std::size_t>(reference)] -= 1;
  return contrast;
}

Contrast interaction(int combined, const std::vector<int>& singles) {
  int last = combined;
  for (const int single : singles) last = std::max(last, single);
  Contrast contrast(static_cast<std::size_t>(last) + 1, 0.0);
  contrast[static_cast<std::size_t>(combined)] += 1;
  for (const int single : singles) contrast[static_cast<std::size_t>(single)] -= 1;
  contrast[0] += static_cast<double>(singles.size()) - 1;
  return contrast;
}

double weight_of(const Contrast& contrast, int variant) {
  const auto at = static_cast<std::size_t>(variant);
  return variant >= 0 && at < contrast.size() ? contrast[at] : 0;
}

bool has_every_arm(const std::vector<int>& variants, const Contrast& contrast) {
  for (std::size_t v = 0; v < contrast.size(); ++v) {
    if (contrast[v] != 0 && std::find(variants.begin(), variants.end(), static_cast<int>(v)) == variants.end()) {
      return false;
    }
  }
  return true;
}

std::vector<Term> arm_terms(const std::vector<int>& variants, const Contrast& contrast) {
  const std::set<int> present(variants.begin(), variants.end());
  const auto pivot =
      std::find_if(present.rbegin(), present.rend(), [&](int variant) { return weight_of(contrast, variant) != 0; });
  BK_CHECK(pivot != present.rend());
  const double weight = weight_of(contrast, *pivot);
  std::vector<Term> terms;
  // contrast = sum of weight · level, solved for the pivot's level and put into the model of levels.
  for (const int variant : present) {
    if (variant == *pivot) continue;
    Term level{"level", {}};
    const double share = -weight_of(contrast, variant) / weight;
    for (const int v : variants) level.column.push_back(v == variant ? 1 : v == *pivot ? share : 0);
    terms.push_back(std::move(level));
  }
  Term arm{"arm", {}};
  for (const int v : variants) arm.column.push_back(v == *pivot ? 1 / weight : 0);
  terms.push_back(std::move(arm));
  return terms;
}

}  // namespace bk::stats
