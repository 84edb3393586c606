#include "leg/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gate/tally.h"
#include "leg/needle_prompts.h"
#include "leg/needle_question.h"

namespace bk::leg {
namespace {

constexpr int kQuestions = 3;  // a document
constexpr const char* kName = "check-quality";

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
    BK_ASSIGN(Asked asked,
              ask_question(transport_, endpoint_,
                           {document.prompt(fact), fact, plan_.max_tokens, plan_.request_timeout}, plan_.stopped));
    note(asked.scored.verdict, asked.scored.reason, row);
    if (!asked.record.ok()) ++outcome_.requests_failed;
    if (!row.prompt_tokens && asked.record.usage) row.prompt_tokens = asked.record.usage->prompt_tokens;
    Json head = Json::object();
    head.set("context_tokens", row.context_tokens).set("depth_percent", 25 * (index + 1));
    outcome_.gate.questions.push(question_json(std::move(head), fact, asked));
    outcome_.gate.requests.push_back(std::move(asked.record));
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
