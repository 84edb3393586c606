#include "bracket/rows.h"

namespace bk::bracket {
namespace {

store::Value to_value(const stream::Figure& figure) { return {figure.value, figure.reason}; }

std::string timings_json(const std::optional<stream::ServerTimings>& timings) {
  if (!timings) return {};
  Json json = Json::object();
  json.set("prompt_ms", timings->prompt_ms).set("predicted_ms", timings->predicted_ms);
  json.set("prompt_n", timings->prompt_n).set("predicted_n", timings->predicted_n).set("cache_n", timings->cache_n);
  json.set("draft_n", timings->draft_n).set("draft_n_accepted", timings->draft_n_accepted);
  return json.dump();
}

void take_acceptance(const engine::AcceptanceDelta& delta, store::SampleRow* row) {
  row->accept_reason = delta.reason;
  if (!delta.resets.empty()) row->accept_resets_json = Json(delta.resets).dump();
  if (!delta.value) return;
  const engine::Acceptance& a = *delta.value;
  row->accept_drafts = a.drafts;
  row->accept_draft_tokens = a.draft_tokens;
  row->accept_accepted = a.accepted;
  row->accept_raw = a.raw;
  row->accept_legacy = a.legacy;
  row->accept_tokens_per_step = a.tokens_per_step;
  row->accept_k_eff = a.k_eff;
  row->accept_per_position_json = Json(a.per_position).dump();
}

std::string text_of(const Json& json, std::string_view key) {
  const Json& value = json[key];
  if (const auto text = value.as_string()) return *text;
  return value.is_null() ? "" : value.dump();
}

store::GateQuestionRow question_row(const Json& question, std::int64_t position) {
  store::GateQuestionRow row;
  row.position = position;
  row.question = text_of(question, "question");
  row.expected = text_of(question, "expected");
  row.answer = text_of(question, "answer");
  row.verdict = text_of(question, "verdict");
  row.reason = text_of(question, "reason");
  Json rest = Json::object();
  for (const auto& [key, value] : question.members()) {
    if (key != "question" && key != "expected" && key != "answer" && key != "verdict" && key != "reason") {
      rest.set(key, value);
    }
  }
  if (!rest.members().empty()) row.detail_json = rest.dump();
  return row;
}

}  // namespace

store::RequestRow to_row(const stream::RequestRecord& record, std::int64_t position) {
  store::RequestRow row;
  row.position = position;
  row.outcome = stream::to_string(record.outcome);
  row.reason = record.reason;
  row.http_status = record.http_status;
  row.scheduled = record.scheduled;
  row.sent = record.sent;
  row.connect = record.connect;
  row.connection_reused = record.connection_reused;
  row.reopened = record.reopened;
  row.headers = record.headers;
  row.ttfr = record.ttfr;
  row.ttft = record.ttft;
  row.first_answer = record.first_answer;
  row.last_token = record.last_token;
  row.end = record.end;
  row.events.reserve(record.events.size());
  for (const stream::TokenEvent& event : record.events) row.events.push_back({event.at, event.tokens});
  row.data_events = record.data_events;
  row.done_seen = record.done_seen;
  row.tokens_source = stream::to_string(record.tokens_source);
  row.completion_tokens = record.completion_tokens;
  if (record.usage) {
    row.usage_seen = true;
    row.usage_prompt_tokens = record.usage->prompt_tokens;
    row.usage_completion_tokens = record.usage->completion_tokens;
    row.usage_cached_tokens = record.usage->cached_tokens;
    row.usage_reasoning_tokens = record.usage->reasoning_tokens;
  }
  row.timings_json = timings_json(record.timings);
  row.finish_reason = record.finish_reason;
  row.model = record.model;
  row.content = record.content;
  row.reasoning = record.reasoning;
  row.tool_calls = record.tool_calls;
  row.decode_basis = stream::to_string(record.decode_basis);
  row.decode_tok_s = to_value(record.decode_tok_s);
  row.decode_tok_s_n_minus_1 = to_value(record.decode_tok_s_n_minus_1);
  row.tpot_ms = to_value(record.tpot_ms);
  row.prefill_tok_s = to_value(record.prefill_tok_s);
  row.e2e_tok_s = to_value(record.e2e_tok_s);
  row.burst = record.burst;
  return row;
}

store::SampleRow to_row(const load::Sample& sample) {
  store::SampleRow row;
  row.cell = sample.cell;
  row.concurrency = sample.concurrency;
  row.position = sample.index;
  row.warmup = sample.warmup;
  row.ok = sample.ok();
  row.started = sample.started;
  row.ended = sample.ended;
  row.started_wall = sample.started_wall;
  take_acceptance(sample.acceptance, &row);
  row.client_cpu_share = sample.client.cpu_share;
  row.client_worst_delay = sample.client.worst_delay;
  for (const auto& [name, figure] : sample.metrics) row.metrics[name] = to_value(figure);
  for (std::size_t i = 0; i < sample.requests.size(); ++i) {
    row.requests.push_back(to_row(sample.requests[i], static_cast<std::int64_t>(i)));
  }
  return row;
}

store::GateRow to_row(const leg::GateResult& gate) {
  store::GateRow row;
  row.name = gate.name;
  row.verdict = leg::to_string(gate.verdict);
  row.passed = gate.passed;
  row.asked = gate.asked;
  row.detail = gate.detail;
  row.finished_wall = wall_now();
  for (std::size_t i = 0; i < gate.questions.items().size(); ++i) {
    row.questions.push_back(question_row(gate.questions.items()[i], static_cast<std::int64_t>(i)));
  }
  for (std::size_t i = 0; i < gate.requests.size(); ++i) {
    row.requests.push_back(to_row(gate.requests[i], static_cast<std::int64_t>(i)));
  }
  return row;
}

}  // namespace bk::bracket
