#include "tool/request_json.h"

namespace bk::tool {
namespace {

Json ms(const std::optional<Nanos>& t) { return t ? Json(to_ms(*t)) : Json(); }

void set_figure(Json* json, const std::string& name, const stream::Figure& figure) {
  json->set(name, figure.value);
  if (!figure.value) json->set(name + "_reason", figure.reason);
}

Json usage_json(const std::optional<stream::Usage>& usage) {
  if (!usage) return {};
  Json json = Json::object();
  json.set("prompt_tokens", usage->prompt_tokens).set("completion_tokens", usage->completion_tokens);
  json.set("cached_tokens", usage->cached_tokens).set("reasoning_tokens", usage->reasoning_tokens);
  return json;
}

Json timings_json(const std::optional<stream::ServerTimings>& timings) {
  if (!timings) return {};
  Json json = Json::object();
  json.set("prompt_n", timings->prompt_n).set("prompt_ms", timings->prompt_ms);
  json.set("predicted_n", timings->predicted_n).set("predicted_ms", timings->predicted_ms);
  json.set("cache_n", timings->cache_n);
  json.set("draft_n", timings->draft_n).set("draft_n_accepted", timings->draft_n_accepted);
  return json;
}

}  // namespace

Json request_json(const stream::RequestRecord& record) {
  Json json = Json::object();
  json.set("status", record.ok() ? "ok" : "failed");
  json.set("reason", record.reason.empty() ? Json() : Json(record.reason));
  json.set("outcome", stream::to_string(record.outcome));
  json.set("http_status", record.http_status > 0 ? Json(record.http_status) : Json());
  json.set("connect_ms", ms(record.connect)).set("connection_reused", record.connection_reused);
  json.set("reopened", record.reopened);
  json.set("headers_ms", ms(record.headers)).set("ttfr_ms", ms(record.ttfr)).set("ttft_ms", ms(record.ttft));
  json.set("first_answer_ms", ms(record.first_answer)).set("last_token_ms", ms(record.last_token));
  json.set("end_ms", ms(record.end));
  json.set("completion_tokens", record.completion_tokens);
  json.set("tokens_source", stream::to_string(record.tokens_source));
  json.set("events", record.events.size()).set("data_events", record.data_events);
  json.set("decode_basis", stream::to_string(record.decode_basis));
  set_figure(&json, "decode_tok_s", record.decode_tok_s);
  set_figure(&json, "decode_tok_s_n_minus_1", record.decode_tok_s_n_minus_1);
  set_figure(&json, "tpot_ms", record.tpot_ms);
  set_figure(&json, "prefill_tok_s", record.prefill_tok_s);
  set_figure(&json, "e2e_tok_s", record.e2e_tok_s);
  json.set("burst", record.burst);
  json.set("prompt_tokens", record.usage ? Json(record.usage->prompt_tokens) : Json());
  json.set("cached_tokens", record.usage ? Json(record.usage->cached_tokens) : Json());
  json.set("finish_reason", record.finish_reason.empty() ? Json() : Json(record.finish_reason));
  json.set("done_seen", record.done_seen);
  json.set("model", record.model.empty() ? Json() : Json(record.model));
  json.set("usage", usage_json(record.usage)).set("timings", timings_json(record.timings));
  return json;
}

Json acceptance_json(const engine::AcceptanceDelta& delta) {
  if (!delta.value) return {};
  const engine::Acceptance& a = *delta.value;
  Json json = Json::object();
  json.set("raw", a.raw).set("legacy", a.legacy).set("tokens_per_step", a.tokens_per_step).set("k_eff", a.k_eff);
  json.set("per_position", a.per_position);
  json.set("drafts", a.drafts).set("draft_tokens", a.draft_tokens).set("accepted", a.accepted);
  return json;
}

}  // namespace bk::tool
