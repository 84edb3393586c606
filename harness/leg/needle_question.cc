#include "leg/needle_question.h"

#include <utility>

#include "engine/body.h"
#include "load/runner.h"

namespace bk::leg {
namespace {

gate::Scored score(const stream::RequestRecord& record, const gate::Expected& expected) {
  gate::Answer answer{record.content, record.reasoning, record.finish_reason, !record.ok()};
  gate::Scored scored = gate::score_answer(answer, expected);
  if (!record.ok() && !record.reason.empty()) scored.reason += ": " + record.reason;
  return scored;
}

}  // namespace

Result<Asked> ask_question(http::Transport& transport, const engine::Endpoint& endpoint, const Question& question,
                           const std::function<bool()>& stopped) {
  engine::Generation generation;
  generation.prompt = question.prompt;
  generation.max_tokens = question.max_tokens;
  generation.temperature = 0.0;
  generation.thinking_off = true;
  load::RunOptions options;
  options.stopped = stopped;
  load::Run run = load::run_requests(
      transport, {{engine::make_request(endpoint, generation, {.total = question.request_timeout}), 0, {}}}, options);
  if (stopped && stopped()) return fail(Errc::kInterrupted, "stopped while questions were asked");
  Asked asked;
  asked.record = std::move(run.requests.front());
  asked.scored = score(asked.record, question.fact.expected);
  return asked;
}

Json question_json(Json head, const gate::Fact& fact, const Asked& asked) {
  const stream::RequestRecord& record = asked.record;
  head.set("question", fact.question).set("expected", fact.expected.accept_all_of);
  head.set("answer", record.ok() ? Json(record.content) : Json());
  head.set("finish_reason", record.finish_reason.empty() ? Json() : Json(record.finish_reason));
  head.set("prompt_tokens", record.usage ? Json(record.usage->prompt_tokens) : Json());
  head.set("verdict", verdict_word(asked.scored.verdict));
  head.set("reason", asked.scored.reason.empty() ? Json() : Json(asked.scored.reason));
  return head;
}

const char* verdict_word(gate::AnswerVerdict verdict) {
  return verdict == gate::AnswerVerdict::kMiss ? "fail" : gate::to_string(verdict);
}

GateVerdict gate_verdict(gate::Verdict verdict) {
  if (verdict == gate::Verdict::kPass) return GateVerdict::kPass;
  return verdict == gate::Verdict::kFail ? GateVerdict::kFail : GateVerdict::kNoAnswer;
}

}  // namespace bk::leg
