#pragma once
#include <optional>
#include <vector>

#include "leg/greedy.h"
#include "store/store.h"

namespace bk::bracket {

/// The texts of gates whose every prompt was answered.
[[nodiscard]] std::vector<leg::GreedyText> whole_texts(const std::vector<store::GateRow>& gates);

/// A bracket's greedy texts, arm against arm.
struct GreedyComparison {
  store::RowId leg = 0;  ///< of the candidate's last boot that kept texts
  leg::GateResult gate;  ///< "greedy-divergence"; `passed` counts prompts that part no earlier than the bases do
};

/// Compares the texts that the finished boots kept, by gate::judge_divergence(). Nothing when no candidate kept any.
/// No answer, with the reason, when boots or prompts are too few.
[[nodiscard]] Result<std::optional<GreedyComparison>> compare_greedy(store::Database& database, store::RowId bracket);

/// Stores the comparison as a gate of the candidate's last boot, once.
[[nodiscard]] Status store_greedy(store::Database& database, store::RowId bracket);

}  // namespace bk::bracket
