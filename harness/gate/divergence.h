#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/tally.h"

namespace bk::gate {

/// The first character (code point, from 0) in which two texts differ; where one is the beginning of the other, its
/// length. Nothing when they are the same.
[[nodiscard]] std::optional<std::int64_t> first_difference(std::string_view a, std::string_view b);

/// One prompt's greedy texts: at least two boots of the base, one or more of the candidate.
struct GreedyTexts {
  std::vector<std::string> base;
  std::vector<std::string> cand;
};

/// Where one prompt's texts part; nothing: they never do. Medians over pairs of boots.
struct PromptDivergence {
  std::optional<double> natural_chars;  ///< base against base
  std::optional<double> cand_chars;     ///< candidate against base
};

struct Divergence {
  std::vector<PromptDivergence> prompts;
  std::optional<double> natural_median_chars;  ///< over prompts; nothing: more than half never part
  std::optional<double> cand_median_chars;
  int earlier = 0, later = 0, equal = 0;  ///< prompts whose candidate parts earlier than the bases do, later, alike
  std::optional<double> p_value;          ///< one-sided sign test that the candidate parts earlier; nothing: no prompt
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;  ///< one sentence
};

struct DivergenceRule {
  double alpha = 0.05;      ///< of the sign test
  double tolerance = 0.10;  ///< the candidate's median may be so much earlier than the natural one
  int min_prompts = 8;
};

/// A change of numerics moves where greedy text parts no more than another boot of the same configuration does. Fails
/// when the candidate's median is earlier than the natural one by more than the tolerance and the sign test over
/// prompts says that this is no chance; inconclusive for fewer than min_prompts, and when only one of the two holds.
/// Texts that never part count as parting later than all others. Source: the ledger's greedy gate (55 against 52
/// characters, 93 against 96: passes).
[[nodiscard]] Divergence judge_divergence(const std::vector<GreedyTexts>& prompts, const DivergenceRule& rule = {});

/// P(X >= k) for X binomial(n, 1/2).
[[nodiscard]] double sign_test(int k, int n);

}  // namespace bk::gate
