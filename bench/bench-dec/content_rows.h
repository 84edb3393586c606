#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "load/content.h"
#include "load/sample.h"
#include "report/format.h"

namespace bk {

/// The rate of a mix in which each kind makes up its weight's share of the tokens: the weighted harmonic mean, since it
/// is the times per token that add up. Nothing when a rate is missing.
/// @param rates  each with its weight.
[[nodiscard]] std::optional<double> mixed_rate(const std::vector<std::pair<std::optional<double>, double>>& rates);

/// One row a concurrency and set: the median decode rates of its short and of its long answers, and both mixed in equal
/// shares. One "total" row a concurrency mixes the sets by their weights.
[[nodiscard]] report::Records content_records(const std::vector<load::Sample>& samples,
                                              const std::vector<load::ContentShare>& mix);

}  // namespace bk
