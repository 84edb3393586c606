#include "leg/greedy.h"

#include <fmt/format.h>

#include "engine/body.h"
#include "gate/divergence.h"
#include "leg/needle_question.h"
#include "load/runner.h"

namespace bk::leg {
namespace {

/// The prompts that every boot answered. Counts those that tonight's boot did.
std::vector<gate::GreedyTexts> together(const GreedyText& now, const std::vector<GreedyText>& earlier) {
  std::vector<gate::GreedyTexts> prompts;
  for (const auto& [prompt, text] : now) {
    gate::GreedyTexts texts;
    texts.cand.push_back(text);
    for (const GreedyText& boot : earlier) {
      if (const auto found = boot.find(prompt); found != boot.end()) texts.base.push_back(found->second);
    }
    if (texts.base.size() == earlier.size()) prompts.push_back(std::move(texts));
  }
  return prompts;
}

Json question(const std::string& prompt, const stream::RequestRecord& record) {
  Json json = Json::object();
  json.set("question", prompt).set("expected", "parts no earlier than two boots of one configuration do");
  json.set("answer", record.ok() ? Json(greedy_text(record)) : Json());
  json.set("verdict", record.ok() ? "pass" : "no_answer");
  return json.set("reason", record.ok() || record.reason.empty() ? Json() : Json(record.reason));
}

/// Every prompt with its text, and no verdict yet.
GateResult answered(const GreedyRun& run, const char* name) {
  GateResult gate;
  gate.name = name;
  gate.asked = static_cast<int>(run.prompts.size());
  gate.questions = Json::array();
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    gate.questions.push(question(run.prompts[i], run.records[i]));
    gate.passed += run.records[i].ok() ? 1 : 0;
  }
  gate.requests = run.records;
  if (gate.passed < gate.asked) {
    gate.detail = fmt::format("{} of {} prompts were not answered", gate.asked - gate.passed, gate.asked);
  }
  return gate;
}

}  // namespace

const std::vector<std::string>& greedy_prompts() {
  static const std::vector<std::string> kPrompts = {
      "Explain why the sky is blue at noon and red in the evening.",
      "Describe how a paper mill turns wood into paper, step by step.",
      "Write a story about a lighthouse keeper who finds a map.",
      "Explain to a beginner what a hash table is and when to use one.",
      "Compare travelling by train and by ship across a continent.",
      "Describe how bread dough rises and what can go wrong.",
      "Explain how a refrigerator moves heat.",
      "Write a letter to a friend about a week spent in the mountains.",
      "바다의 밀물과 썰물이 생기는 까닭을 쉽게 설명해 주세요.",
      "처음 자전거를 배우는 아이에게 순서대로 알려 주세요.",
      "시골 장터에서 보낸 하루를 이야기로 써 주세요.",
      "겨울에 집을 따뜻하게 지내는 방법을 자세히 소개해 주세요.",
  };
  return kPrompts;
}

std::string greedy_text(const stream::RequestRecord& record) { return record.reasoning + record.content; }

GreedyText GreedyRun::texts() const {
  GreedyText texts;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].ok()) texts[prompts[i]] = greedy_text(records[i]);
  }
  return texts;
}

Result<GreedyRun> ask_greedy(http::Transport& transport, const engine::Endpoint& endpoint, const GreedyPlan& plan,
                             Sink& sink) {
  GreedyRun run;
  run.prompts = plan.prompts;
  const int total = static_cast<int>(plan.prompts.size());
  for (int i = 0; i < total; ++i) {
    sink.progress(kGreedyDivergence, i, total);
    engine::Generation generation;
    generation.prompt = plan.prompts[static_cast<std::size_t>(i)];
    generation.max_tokens = plan.max_tokens;
    generation.temperature = 0.0;
    generation.thinking_off = true;
    load::RunOptions options;
    options.stopped = plan.stopped;
    load::Run answered = load::run_requests(
        transport, {{engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}}}, options);
    if (plan.stopped && plan.stopped()) return fail(Errc::kInterrupted, "stopped while prompts were asked");
    run.records.push_back(std::move(answered.requests.front()));
  }
  sink.progress(kGreedyDivergence, total, total);
  return run;
}

GateResult keep_greedy(const GreedyRun& run) {
  GateResult gate = answered(run, kGreedyTexts);
  if (gate.passed < gate.asked) return gate;
  gate.verdict = GateVerdict::kPass;
  gate.detail = "texts kept for the comparison of the arms";
  return gate;
}

GateResult judge_greedy(const GreedyRun& run, const std::vector<GreedyText>& earlier) {
  GateResult gate = answered(run, kGreedyDivergence);
  if (gate.passed < gate.asked) return gate;
  if (earlier.size() < kGreedyYardstick) {
    gate.detail = fmt::format("texts kept; {} of the {} boots are there whose divergence is the yardstick",
                              earlier.size(), kGreedyYardstick);
    return gate;
  }
  const gate::Divergence d = gate::judge_divergence(together(run.texts(), earlier));
  gate.verdict = gate_verdict(d.verdict);
  gate.detail = d.reason;
  return gate;
}

}  // namespace bk::leg
