#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bracket/recorded.h"
#include "stats/assess.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Every number is finite, or missing with its reason.
void check(const bk::stats::Effect& effect) {
  for (const auto& number : {effect.estimate, effect.se, effect.half_width, effect.p, effect.residual_sd}) {
    require(!number || std::isfinite(*number));
  }
  require((effect.estimate && effect.half_width && effect.p) || !effect.reason.empty());
  require(!effect.p || (*effect.p >= 0 && *effect.p <= 1));
}

}  // namespace

/// Any bytes give samples or one line of error; samples are assessed whatever their values.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bk;
  const auto recorded = bracket::parse_recorded({reinterpret_cast<const char*>(data), size}, stats::Better::kHigher);
  if (!recorded) {
    require(!recorded.error().what.empty() && recorded.error().text().find('\n') == std::string::npos);
    return 0;
  }
  std::vector<stats::Declared> declared;
  for (const auto& metric : recorded->metrics) declared.push_back({metric.boots, {.better = metric.better}});
  for (const stats::Assessment& assessment : stats::assess_all(declared)) {
    require(!assessment.reason.empty());
    for (const stats::Effect* effect :
         {&assessment.estimates.raw, &assessment.estimates.equal_acceptance, &assessment.estimates.acceptance}) {
      check(*effect);
    }
  }
  return 0;
}
