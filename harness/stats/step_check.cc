#include "stats/step_check.h"

#include <algorithm>
#include <cmath>

#include "stats/student.h"

namespace bk::stats {

StepCheck check_step(const std::vector<Term>& arms, const std::vector<double>& values, double effect, double sd,
                     double df) {
  StepCheck out;
  const std::size_t n = values.size();
  const double quantile = t_quantile(1 - kStepAlpha / 2, df);
  double greatest = -1;
  for (std::size_t at = 1; at < n; ++at) {
    std::vector<Term> terms = arms;
    Term& step = terms.emplace_back(Term{"step", std::vector<double>(n, 0.0)});
    for (std::size_t i = at; i < n; ++i) step.column[i] = 1;
    const auto fit = least_squares(terms, values);
    if (!fit || fit->rank < static_cast<int>(terms.size())) continue;
    const Coefficient& c = *fit->find("step");
    const double t = std::fabs(*c.value) / (sd * std::sqrt(c.unscaled_variance));
    if (t > greatest) {
      greatest = t;
      out.step = c.value;
    }
    const double shift = std::fabs(effect - *fit->find("arm")->value);
    if (t > quantile) out.room = std::max(out.room, kStepWeight * shift * (1 - quantile / t));
  }
  if (greatest >= 0) out.p = t_two_sided_p(greatest, df);
  return out;
}

}  // namespace bk::stats
