#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "load/sample.h"
#include "stats/acc_fit.h"

namespace bk {

/// The ledger's normalisation over the C = 1 samples: round_tok_s against legacy acceptance, read at 50 and 55 %.
/// kInconclusive, with the reason, for fewer than three samples with acceptance or none that differ in it.
[[nodiscard]] Result<stats::AccFit> acc_fit_of(const std::vector<load::Sample>& samples);

/// "C=1 at acc=50: 59.5 tok/s, at acc=55: 62.9 tok/s …", or why there is none.
[[nodiscard]] std::string acc_text(const Result<stats::AccFit>& fit);
/// {"metric", "n", "at_acc50_tok_s", "at_acc55_tok_s", "slope_tok_s_per_point", "sigma_tok_s"}, the numbers null beside
/// a "reason" when refused.
[[nodiscard]] Json acc_json(const Result<stats::AccFit>& fit);

}  // namespace bk
