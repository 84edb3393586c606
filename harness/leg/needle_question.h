#pragma once
#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "engine/endpoint.h"
#include "gate/needle.h"
#include "gate/tally.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// One question on a document: what is sent, and how long it may take.
struct Question {
  std::string prompt;  ///< the whole user message
  gate::Fact fact;     ///< what it asks for
  int max_tokens = 120;
  Nanos request_timeout = 1800 * kSecond;
};

/// A reply and what it is worth.
struct Asked {
  stream::RequestRecord record;
  gate::Scored scored;
};

/// Asks at temperature 0 with thinking off and scores the reply by value. A failed request is a question without an
/// answer; kInterrupted when `stopped` ended it.
[[nodiscard]] Result<Asked> ask_question(http::Transport& transport, const engine::Endpoint& endpoint,
                                         const Question& question, const std::function<bool()>& stopped);

/// The members of GateResult::questions, added to `head` (where the question stands): question, expected, answer,
/// finish_reason, prompt_tokens, verdict, reason.
[[nodiscard]] Json question_json(Json head, const gate::Fact& fact, const Asked& asked);

/// The database's words: "pass", "fail", "no_answer".
[[nodiscard]] const char* verdict_word(gate::AnswerVerdict verdict);
[[nodiscard]] GateVerdict gate_verdict(gate::Verdict verdict);

}  // namespace bk::leg
