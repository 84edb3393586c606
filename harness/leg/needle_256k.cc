#include "leg/needle_256k.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "leg/needle_prompts.h"
#include "leg/needle_question.h"

namespace bk::leg {
namespace {

constexpr int kQuestions = 4;
constexpr const char* kName = "needle-256k";
/// The question for all three is longer than a single one by less than so many tokens.
constexpr std::int64_t kMultiQuestion_tokens = 128;

Result<NeedleDocument> document_for(NeedleSizer& sizer, const NeedlePlan& plan) {
  std::int64_t tokens = plan.context_tokens;
  if (plan.context_limit) {
    if (tokens > *plan.context_limit) {
      return fail(Errc::kUnavailable, fmt::format("the server holds {} tokens only", *plan.context_limit));
    }
    tokens = std::min(tokens, *plan.context_limit - 2 * plan.max_tokens - kMultiQuestion_tokens);
  }
  return sizer.make(plan.seed, tokens);
}

Json head_of(int index) {
  const bool multi = index == kQuestions - 1;
  return Json::object()
      .set("form", multi ? "multi" : "single")
      .set("depth_percent", multi ? Json() : Json(25 * (index + 1)));
}

Question question_of(const NeedleDocument& document, const NeedlePlan& plan, int index) {
  const bool multi = index == kQuestions - 1;
  Question question;
  question.fact = multi ? gate::all_of(document.facts) : document.facts[static_cast<std::size_t>(index)];
  question.prompt = document.prompt(question.fact);
  question.max_tokens = multi ? 2 * plan.max_tokens : plan.max_tokens;
  question.request_timeout = plan.request_timeout;
  return question;
}

void finish(const std::vector<gate::AnswerVerdict>& verdicts, const std::string& first_unanswered,
            NeedleOutcome& outcome) {
  const gate::Tally tally = gate::tally(verdicts, kQuestions);
  for (const gate::AnswerVerdict verdict : verdicts) outcome.verdicts.emplace_back(verdict_word(verdict));
  outcome.gate.verdict = gate_verdict(tally.verdict());
  outcome.gate.passed = tally.pass;
  outcome.gate.asked = tally.asked;
  outcome.gate.detail = needle_score(outcome.verdicts);
  if (tally.no_answer > 0) {
    outcome.gate.detail += fmt::format(", {} without an answer ({})", tally.no_answer, first_unanswered);
  }
}

}  // namespace

std::string needle_score(const std::vector<std::string>& verdicts) {
  const auto singles = verdicts.begin() + std::min<std::ptrdiff_t>(kQuestions - 1, std::ssize(verdicts));
  const std::string multi = singles == verdicts.end() ? "no_answer" : *singles;
  return fmt::format("{}/{} single + {} multi", std::count(verdicts.begin(), singles, "pass"), kQuestions - 1,
                     multi == "pass"   ? "PASS"
                     : multi == "fail" ? "FAIL"
                                       : "?");
}

Result<NeedleOutcome> run_needle_256k(http::Transport& transport, const engine::Endpoint& endpoint,
                                      const NeedlePlan& plan, Sink& sink) {
  NeedleOutcome outcome;
  outcome.gate.name = kName;
  outcome.gate.questions = Json::array();
  std::vector<gate::AnswerVerdict> verdicts;
  std::string first_unanswered;
  NeedleSizer sizer(transport, endpoint);
  const auto document = document_for(sizer, plan);
  if (!document) {
    if (document.error().code == Errc::kInterrupted) return fail(document.error());
    outcome.note = document.error().text();
    sink.warn(fmt::format("{} was not asked: {}", kName, outcome.note));
    first_unanswered = "not asked: " + document.error().what;
    verdicts.assign(kQuestions, gate::AnswerVerdict::kNoAnswer);
    outcome.requests_failed = kQuestions;
  }
  for (int i = 0; document && i < kQuestions; ++i) {
    sink.progress(kName, i, kQuestions);
    const Question question = question_of(*document, plan, i);
    BK_ASSIGN(Asked asked, ask_question(transport, endpoint, question, plan.stopped));
    verdicts.push_back(asked.scored.verdict);
    if (asked.scored.verdict == gate::AnswerVerdict::kNoAnswer && first_unanswered.empty()) {
      first_unanswered = asked.scored.reason;
    }
    if (!asked.record.ok()) ++outcome.requests_failed;
    if (!outcome.prompt_tokens && asked.record.usage) outcome.prompt_tokens = asked.record.usage->prompt_tokens;
    outcome.gate.questions.push(question_json(head_of(i), question.fact, asked));
    outcome.gate.requests.push_back(std::move(asked.record));
  }
  sink.progress(kName, kQuestions, kQuestions);
  finish(verdicts, first_unanswered, outcome);
  BK_TRY(sink.gate(outcome.gate));
  return outcome;
}

}  // namespace bk::leg
