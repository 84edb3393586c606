#include "bracket/greedy.h"

#include <algorithm>

#include "bracket/rows.h"
#include "gate/divergence.h"
#include "leg/needle_question.h"

namespace bk::bracket {
namespace {

/// What one bracket's boots wrote.
struct Texts {
  std::vector<leg::GreedyText> base, cand;
  store::RowId last_cand_leg = 0;
};

Result<Texts> texts_of(store::Database& database, store::RowId bracket) {
  Texts texts;
  BK_ASSIGN(const auto boots, database.boots(bracket));
  for (const store::BootRow& boot : boots) {
    if (boot.state != "done") continue;
    BK_ASSIGN(const auto legs, database.legs(boot.id));
    for (const store::LegRow& leg : legs) {
      if (leg.name != leg::kGreedyTexts) continue;
      const bool cand = boot.arm == "cand";
      if (cand) texts.last_cand_leg = leg.id;
      BK_ASSIGN(const auto gates, database.leg_gates(leg.id));
      for (leg::GreedyText& one : whole_texts(gates)) (cand ? texts.cand : texts.base).push_back(std::move(one));
    }
  }
  return texts;
}

/// The prompts that every boot answered.
std::vector<gate::GreedyTexts> by_prompt(const Texts& texts) {
  std::vector<gate::GreedyTexts> prompts;
  if (texts.base.empty()) return prompts;
  const auto all = [](const std::vector<leg::GreedyText>& boots, const std::string& prompt,
                      std::vector<std::string>& into) {
    for (const leg::GreedyText& boot : boots) {
      if (const auto found = boot.find(prompt); found != boot.end()) into.push_back(found->second);
    }
    return into.size() == boots.size();
  };
  for (const auto& [prompt, text] : texts.base.front()) {
    gate::GreedyTexts one;
    if (all(texts.base, prompt, one.base) && all(texts.cand, prompt, one.cand)) prompts.push_back(std::move(one));
  }
  return prompts;
}

std::string boots_text(std::size_t n) { return fmt::format("{} boot{}", n, n == 1 ? "" : "s"); }

}  // namespace

std::vector<leg::GreedyText> whole_texts(const std::vector<store::GateRow>& gates) {
  std::vector<leg::GreedyText> boots;
  for (const store::GateRow& gate : gates) {
    leg::GreedyText texts;
    for (const store::GateQuestionRow& question : gate.questions) {
      if (question.verdict == "pass") texts[question.question] = question.answer;
    }
    // Half a boot would shrink every comparison to the prompts that it happened to answer.
    if (!texts.empty() && texts.size() == gate.questions.size()) boots.push_back(std::move(texts));
  }
  return boots;
}

Result<std::optional<GreedyComparison>> compare_greedy(store::Database& database, store::RowId bracket) {
  BK_ASSIGN(const Texts texts, texts_of(database, bracket));
  if (texts.last_cand_leg == 0) return std::optional<GreedyComparison>();
  GreedyComparison out;
  out.leg = texts.last_cand_leg;
  leg::GateResult& gate = out.gate;
  gate.name = leg::kGreedyDivergence;
  gate.questions = Json::array();
  if (texts.base.size() < leg::kGreedyYardstick || texts.cand.empty()) {
    gate.detail = fmt::format("whole texts of {} of the base and {} of the candidate; {} and 1 are needed",
                              boots_text(texts.base.size()), boots_text(texts.cand.size()), leg::kGreedyYardstick);
    return std::optional(std::move(out));
  }
  const gate::Divergence d = gate::judge_divergence(by_prompt(texts));
  gate.verdict = leg::gate_verdict(d.verdict);
  gate.asked = static_cast<int>(d.prompts.size());
  gate.passed = gate.asked - d.earlier;
  gate.detail = fmt::format("{}; {} of the base, {} of the candidate", d.reason, boots_text(texts.base.size()),
                            boots_text(texts.cand.size()));
  return std::optional(std::move(out));
}

Status store_greedy(store::Database& database, store::RowId bracket) {
  BK_ASSIGN(const auto compared, compare_greedy(database, bracket));
  if (!compared) return {};
  BK_ASSIGN(const auto gates, database.leg_gates(compared->leg));
  const auto there = [](const store::GateRow& gate) { return gate.name == leg::kGreedyDivergence; };
  if (std::any_of(gates.begin(), gates.end(), there)) return {};
  store::GateRow row = to_row(compared->gate);
  row.leg_id = compared->leg;
  BK_TRY(database.add_gate(row));
  return {};
}

}  // namespace bk::bracket
