#include "leg/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/body.h"
#include "gate/tally.h"
#include "leg/needle_prompts.h"
#include "load/runner.h"

namespace bk::leg {
namespace {

constexpr int kQuestions = 3;  // a document
constexpr const char* kName = "check-quality";

GateVerdict gate_verdict(gate::Verdict verdict) {
  if (verdict == gate::Verdict::kPass) return GateVerdict::kPass;
  return verdict == gate::Verdict::kFail ? GateVerdict::kFail : GateVerdict::kNoAnswer;
}

http::Request question_request(const engine::Endpoint& endpoint, const QualityPlan& plan, const std::string& prompt) {
  engine::Generation generation;
  generation.prompt = prompt;
  generation.max_tokens = plan.max_tokens;
  generation.temperature = 0.0;
  generation.thinking_off = true;
  return engine::make_request(endpoint, generation, {.total = plan.request_timeout});
}

/// The database's word for an answer that is wrong is "fail".
const char* verdict_word(gate::AnswerVerdict verdict) {
  return verdict == gate::AnswerVerdict::kMiss ? "fail" : gate::to_string(verdict);
}

gate::Scored score(const stream::RequestRecord& record, const gate::Expected& expected) {
  gate::Answer answer{record.content, record.reasoning, record.finish_reason, !record.ok()};
  gate::Scored scored = gate::score_answer(answer, expected);
  if (!record.ok() && !record.reason.empty()) scored.reason += ": " + record.reason;
  return scored;
}

Json question_json(std::int64_t context, int depth_percent, const gate::Fact& fact, const stream::RequestRecord& record,
                   const gate::Scored& scored) {
  Json question = Json::object();
  question.set("context_tokens", context).set("depth_percent", depth_percent);
  question.set("question", fact.question).set("expected", fact.expected.accept_all_of);
  question.set("answer", record.ok() ? Json(record.content) : Json());
  question.set("finish_reason", record.finish_reason.empty() ? Json() : Json(record.finish_reason));
  question.set("prompt_tokens", record.usage ? Json(record.usage->prompt_tokens) : Json());
  question.set("verdict", verdict_word(scored.verdict));
  question.set("reason", scored.reason.empty() ? Json() : Json(scored.reason));
  return question;
}

/// Everything that the contexts add to, one after the other.
class QualityRun {
 public:
  QualityRun(http::Transport& transport, const engine::Endpoint& endpoint, const QualityPlan& plan, Sink& sink)
      : transport_(transport), endpoint_(endpoint), plan_(plan), sink_(sink), sizer_(transport, endpoint) {
    outcome_.gate.questions = Json::array();
  }

  Status context(std::int64_t tokens) {
    QualityRow row;
    row.context_tokens = tokens;
    auto document = document_for(tokens);
    if (document) {
      for (int i = 0; i < kQuestions; ++i) BK_TRY(question(*document, i, row));
    } else {
      if (document.error().code == Errc::kInterrupted) return fail(document.error());
      unasked(document.error(), row);
    }
    done_ += kQuestions;
    sink_.progress(label(tokens), kQuestions, kQuestions);
    outcome_.rows.push_back(std::move(row));
    return {};
  }

  QualityOutcome finish() {
    const gate::Tally tally = gate::tally(verdicts_, done_);
    GateResult& gate = outcome_.gate;
    gate.name = kName;
    gate.verdict = gate_verdict(tally.verdict());
    gate.passed = tally.pass;
    gate.asked = tally.asked;
    gate.detail = tally.score() + " correct";
    if (tally.no_answer > 0)
      gate.detail += fmt::format(", {} without an answer ({})", tally.no_answer, first_unanswered_);
    return std::move(outcome_);
  }

 private:
  static std::string label(std::int64_t tokens) {
    const std::string size = tokens % 1024 == 0 ? fmt::format("{}K", tokens / 1024) : fmt::format("{}", tokens);
    return fmt::format("{} {}", kName, size);
  }

  /// A context that fills the server to the brim leaves room for the answer; one that it cannot hold is not asked.
  Result<NeedleDocument> document_for(std::int64_t tokens) {
    std::int64_t prompt_tokens = tokens;
    if (plan_.context_limit) {
      if (tokens > *plan_.context_limit) {
        return fail(Errc::kUnavailable, fmt::format("the server holds {} tokens only", *plan_.context_limit));
      }
      prompt_tokens = std::min(tokens, *plan_.context_limit - plan_.max_tokens);
    }
    return sizer_.make(plan_.seed + static_cast<std::uint64_t>(tokens), prompt_tokens);
  }

  Status question(const NeedleDocument& document, int index, QualityRow& row) {
    sink_.progress(label(row.context_tokens), index, kQuestions);
    const gate::Fact& fact = document.facts[static_cast<std::size_t>(index)];
    load::RunOptions options;
    options.stopped = plan_.stopped;
    load::Run run =
        load::run_requests(transport_, {{question_request(endpoint_, plan_, document.prompt(fact)), 0, {}}}, options);
    if (plan_.stopped && plan_.stopped()) return fail(Errc::kInterrupted, "stopped while questions were asked");
    stream::RequestRecord& record = run.requests.front();
    const gate::Scored scored = score(record, fact.expected);
    note(scored.verdict, scored.reason, row);
    if (!record.ok()) ++outcome_.requests_failed;
    if (!row.prompt_tokens && record.usage) row.prompt_tokens = record.usage->prompt_tokens;
    outcome_.gate.questions.push(question_json(row.context_tokens, 25 * (index + 1), fact, record, scored));
    outcome_.gate.requests.push_back(std::move(record));
    return {};
  }

  void unasked(const Error& error, QualityRow& row) {
    row.note = error.text();
    sink_.warn(label(row.context_tokens) + " was not asked: " + row.note);
    for (int i = 0; i < kQuestions; ++i) {
      note(gate::AnswerVerdict::kNoAnswer, "not asked: " + error.what, row);
      ++outcome_.requests_failed;
    }
  }

  void note(gate::AnswerVerdict verdict, const std::string& reason, QualityRow& row) {
    verdicts_.push_back(verdict);
    row.verdicts.emplace_back(verdict_word(verdict));
    if (verdict == gate::AnswerVerdict::kNoAnswer && first_unanswered_.empty()) first_unanswered_ = reason;
  }

  http::Transport& transport_;
  const engine::Endpoint& endpoint_;
  const QualityPlan& plan_;
  Sink& sink_;
  NeedleSizer sizer_;
  QualityOutcome outcome_;
  std::vector<gate::AnswerVerdict> verdicts_;
  std::string first_unanswered_;
  int done_ = 0;
};

}  // namespace

Result<QualityOutcome> run_quality(http::Transport& transport, const engine::Endpoint& endpoint,
                                   const QualityPlan& plan, Sink& sink) {
  QualityRun run(transport, endpoint, plan, sink);
  for (const std::int64_t tokens : plan.contexts) BK_TRY(run.context(tokens));
  QualityOutcome outcome = run.finish();
  BK_TRY(sink.gate(outcome.gate));
  return outcome;
}

}  // namespace bk::leg
