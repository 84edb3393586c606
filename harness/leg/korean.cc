#include "leg/korean.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/body.h"
#include "load/runner.h"

namespace bk::leg {
namespace {

constexpr const char* kName = "korean-corruption";

load::PlannedRequest make_request(const engine::Endpoint& endpoint, const KoreanPlan& plan, int index) {
  engine::Generation generation;
  generation.prompt = plan.prompts[static_cast<std::size_t>(index) % plan.prompts.size()];
  generation.max_tokens = plan.max_tokens;
  generation.temperature = 0.0;
  return {engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}};
}

gate::KoreanScan scan(const stream::RequestRecord& record) {
  const bool cut = record.finish_reason == "length";
  gate::KoreanScan all = gate::scan_korean(record.reasoning, cut && record.content.empty());
  gate::KoreanScan content = gate::scan_korean(record.content, cut);
  return all += content;
}

/// Why a response says nothing of Korean text; empty when it does.
std::string no_answer_reason(const stream::RequestRecord& record, const gate::KoreanScan& scan) {
  if (!record.ok()) return "request_failed" + (record.reason.empty() ? "" : ": " + record.reason);
  if (scan.characters == 0) return "empty";
  return scan.syllables == 0 && !scan.dirty() ? "no_hangul" : "";
}

Json counts_json(const gate::KoreanScan& scan) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < gate::kKoreanMarks; ++i) {
    counts.set(gate::to_string(static_cast<gate::KoreanMark>(i)), scan.counts[i]);
  }
  return counts;
}

std::string first_fault(const gate::KoreanScan& scan) {
  for (const gate::KoreanPlace& place : scan.places) {
    if (static_cast<std::size_t>(place.mark) >= gate::kGatedKoreanMarks) continue;
    return fmt::format("{} {} at character {}", gate::to_string(place.mark), place.characters, place.at);
  }
  return {};
}

/// Everything that the rounds add to, one after the other.
class KoreanRun {
 public:
  KoreanRun(const KoreanPlan& plan, int asked) : prompts_(plan.prompts) {
    outcome_.gate.name = kName;
    outcome_.gate.asked = asked;
    outcome_.gate.questions = Json::array();
  }

  void add(int index, stream::RequestRecord record) {
    const gate::KoreanScan scanned = scan(record);
    const std::string missing = no_answer_reason(record, scanned);
    if (!record.ok()) ++outcome_.requests_failed;
    const bool dirty = record.ok() && scanned.dirty();
    if (!missing.empty()) {
      ++outcome_.no_answer;
      if (first_missing_.empty()) first_missing_ = missing;
    } else {
      outcome_.dirty += dirty ? 1 : 0;
      outcome_.gate.passed += dirty ? 0 : 1;
      outcome_.total += scanned;
    }
    Json question = Json::object();
    question.set("question", prompts_[static_cast<std::size_t>(index) % prompts_.size()]);
    question.set("expected", "no damaged character");
    question.set("answer", record.ok() ? Json(record.reasoning + record.content) : Json());
    question.set("finish_reason", record.finish_reason.empty() ? Json() : Json(record.finish_reason));
    question.set("verdict", !missing.empty() ? "no_answer" : dirty ? "fail" : "pass");
    const std::string reason = !missing.empty() ? missing : first_fault(scanned);
    question.set("reason", reason.empty() ? Json() : Json(reason));
    question.set("round", index / std::ssize(prompts_) + 1);
    question.set("characters", scanned.characters).set("counts", counts_json(scanned));
    outcome_.gate.questions.push(std::move(question));
    outcome_.gate.requests.push_back(std::move(record));
  }

  KoreanOutcome finish() {
    GateResult& gate = outcome_.gate;
    gate.verdict = outcome_.dirty > 0                                   ? GateVerdict::kFail
                   : outcome_.no_answer > 0 || gate.passed < gate.asked ? GateVerdict::kNoAnswer
                                                                        : GateVerdict::kPass;
    gate.detail = fmt::format("{}/{} dirty", outcome_.dirty, gate.asked);
    if (outcome_.no_answer > 0) {
      gate.detail += fmt::format(", {} without an answer ({})", outcome_.no_answer, first_missing_);
    }
    return std::move(outcome_);
  }

 private:
  const std::vector<std::string>& prompts_;
  KoreanOutcome outcome_;
  std::string first_missing_;
};

}  // namespace

std::optional<double> per_million(std::int64_t count, std::int64_t characters) {
  if (characters <= 0) return std::nullopt;
  return 1e6 * static_cast<double>(count) / static_cast<double>(characters);
}

Result<KoreanOutcome> run_korean(http::Transport& transport, const engine::Endpoint& endpoint, const KoreanPlan& plan,
                                 Sink& sink) {
  const int total = plan.rounds * static_cast<int>(plan.prompts.size());
  KoreanRun run(plan, total);
  for (int done = 0; done < total;) {
    sink.progress(kName, done, total);
    std::vector<load::PlannedRequest> requests;
    const int batch = std::min(std::max(1, plan.concurrency), total - done);
    requests.reserve(static_cast<std::size_t>(batch));
    for (int i = 0; i < batch; ++i) requests.push_back(make_request(endpoint, plan, done + i));
    load::RunOptions options;
    options.stopped = plan.stopped;
    load::Run answered = load::run_requests(transport, std::move(requests), options);
    if (plan.stopped && plan.stopped()) return fail(Errc::kInterrupted, "stopped while prompts were asked");
    for (stream::RequestRecord& record : answered.requests) run.add(done++, std::move(record));
  }
  sink.progress(kName, total, total);
  KoreanOutcome outcome = run.finish();
  BK_TRY(sink.gate(outcome.gate));
  return outcome;
}

}  // namespace bk::leg
