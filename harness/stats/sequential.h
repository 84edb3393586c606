#pragma once
#include <vector>

#include "base/result.h"
#include "stats/boot_values.h"

namespace bk::stats {

/// The alpha that each look of an extended bracket may use, so that all looks together stay within `alpha`: little at
/// first, most of it at the last look.
/// Spending function 4·(1 - Φ(z / √t)), z of alpha / 4, t the share of the information about the arm. Source: Lan and
/// DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983). How often the looks agree is
/// counted over simulated brackets of this very order, since with few boots the estimated variance makes looks less
/// alike than Brownian motion has them. Seeded: the same for every run. Boot noise known from history makes the looks
/// more alike, and the whole then stays a little below `alpha`.
/// @param order  of all boots.  @param looks  boots at each look, rising; the last is all of them.
/// @param drift  whether linear drift is in the model.  shape: one a look
/// @return  two-sided alpha of each look.  kUsage for looks that do not rise to all boots, a look that leaves no degree
/// of freedom or cannot tell arm from drift, or an alpha outside (0, 1).
[[nodiscard]] Result<std::vector<double>> look_alphas(const std::vector<Arm>& order, const std::vector<int>& looks,
                                                      bool drift, double alpha);

}  // namespace bk::stats
