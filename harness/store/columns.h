#pragma once
#include <concepts>
#include <type_traits>

#include "store/rows.h"

/// Which member stands in which column, said once: writing, reading and listing all follow these functions.
/// A visitor takes `v(name, member)`; `v.optional(name, text)` writes NULL for ""; effects take their unit's suffix.
namespace bk::store {

template <class R, class Row>
concept RowOf = std::same_as<std::remove_const_t<R>, Row>;

template <class V, RowOf<HostRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("fingerprint", r.fingerprint), v("name", r.name), v("os", r.os), v("kernel", r.kernel);
  v("cpu", r.cpu), v("gpu", r.gpu), v("driver", r.driver), v("cpu_count", r.cpu_count);
  v("memory_bytes", r.memory_bytes), v.optional("detail_json", r.detail_json);
}

template <class V, RowOf<RunRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("program", r.program), v("tool_version", r.tool_version), v("tool_commit", r.tool_commit);
  v.optional("argv_json", r.argv_json), v("host_id", r.host_id), v("bracket_id", r.bracket_id), v("seed", r.seed);
  v("started_wall_ns", r.started_wall), v("ended_wall_ns", r.ended_wall), v("exit_code", r.exit_code);
  v("state", r.state), v("error", r.error);
}

template <class V, RowOf<PlanRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("config_hash", r.config_hash), v.optional("plan_json", r.plan_json);
  v("created_wall_ns", r.created_wall);
}

template <class V, RowOf<BracketRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("plan_id", r.plan_id), v("profile", r.profile), v("profile_hash", r.profile_hash);
  v("axis", r.axis), v("knob", r.knob), v("base_value", r.base_value), v("cand_value", r.cand_value);
  v.optional("base_knobs_json", r.base_knobs_json), v.optional("cand_knobs_json", r.cand_knobs_json);
  v("primary_metric", r.primary_metric), v("primary_cell", r.primary_cell), v("better", r.better);
  v("created_wall_ns", r.created_wall), v("ended_wall_ns", r.ended_wall), v("state", r.state), v("reason", r.reason);
  v("reopen_reason", r.reopen_reason), v("source", r.source), v.optional("imported_json", r.imported_json);
  v("family_id", r.family_id);
}

template <class V, RowOf<BootRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("bracket_id", r.bracket_id), v("host_id", r.host_id), v("position", r.position);
  v("attempt", r.attempt), v("arm", r.arm), v("profile", r.profile), v("profile_hash", r.profile_hash);
  v.optional("knobs_json", r.knobs_json), v.optional("confirmed_json", r.confirmed_json);
  v.optional("command_json", r.command_json), v("endpoint", r.endpoint), v("model", r.model), v("engine", r.engine);
  v("engine_version", r.engine_version), v("image_digest", r.image_digest), v("log_path", r.log_path);
  v.optional("machine_json", r.machine_json), v("started_wall_ns", r.started_wall), v("ready_wall_ns", r.ready_wall);
  v("ended_wall_ns", r.ended_wall), v("state", r.state), v("reason", r.reason);
}

template <class V, RowOf<ProofRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("boot_id", r.boot_id), v("knob", r.knob), v("kind", r.kind), v("source", r.source);
  v("expected", r.expected), v("observed", r.observed), v("state", r.state), v("reason", r.reason);
  v("checked_wall_ns", r.checked_wall);
}

template <class V, RowOf<LegRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("run_id", r.run_id), v("boot_id", r.boot_id), v("name", r.name);
  v.optional("plan_json", r.plan_json), v("endpoint", r.endpoint), v("model", r.model);
  v("started_wall_ns", r.started_wall), v("ended_wall_ns", r.ended_wall), v("state", r.state), v("reason", r.reason);
}

template <class V, RowOf<SampleRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("leg_id", r.leg_id), v("cell", r.cell), v("concurrency", r.concurrency);
  v("position", r.position), v("warmup", r.warmup), v("ok", r.ok), v("started_ns", r.started), v("ended_ns", r.ended);
  v("started_wall_ns", r.started_wall), v("accept_drafts", r.accept_drafts);
  v("accept_draft_tokens", r.accept_draft_tokens), v("accept_accepted", r.accept_accepted);
  v("accept_raw", r.accept_raw), v("accept_legacy", r.accept_legacy);
  v("accept_tokens_per_step", r.accept_tokens_per_step), v("accept_k_eff", r.accept_k_eff);
  v.optional("accept_per_position_json", r.accept_per_position_json), v("accept_reason", r.accept_reason);
  v.optional("accept_resets_json", r.accept_resets_json), v("client_cpu_share", r.client_cpu_share);
  v("client_worst_delay_ns", r.client_worst_delay);
}

template <class V, RowOf<RequestRow> R>
void visit_columns(V& v, R& r) {
  v("sample_id", r.sample_id), v("gate_id", r.gate_id), v("position", r.position), v("outcome", r.outcome);
  v("reason", r.reason), v("http_status", r.http_status), v("scheduled_ns", r.scheduled), v("sent_ns", r.sent);
  v("connect_ns", r.connect), v("connection_reused", r.connection_reused), v("reopened", r.reopened);
  v("headers_ns", r.headers), v("ttfr_ns", r.ttfr), v("ttft_ns", r.ttft), v("first_answer_ns", r.first_answer);
  v("last_token_ns", r.last_token), v("end_ns", r.end), v("events", r.events), v("data_events", r.data_events);
  v("done_seen", r.done_seen), v("tokens_source", r.tokens_source), v("completion_tokens", r.completion_tokens);
  v("usage_seen", r.usage_seen), v("usage_prompt_tokens", r.usage_prompt_tokens);
  v("usage_completion_tokens", r.usage_completion_tokens), v("usage_cached_tokens", r.usage_cached_tokens);
  v("usage_reasoning_tokens", r.usage_reasoning_tokens), v.optional("timings_json", r.timings_json);
  v("finish_reason", r.finish_reason), v("model", r.model), v("content", r.content), v("reasoning", r.reasoning);
  v("tool_calls", r.tool_calls), v("decode_basis", r.decode_basis), v("decode_tok_s", r.decode_tok_s);
  v("decode_tok_s_n_minus_1", r.decode_tok_s_n_minus_1), v("tpot_ms", r.tpot_ms);
  v("prefill_tok_s", r.prefill_tok_s), v("e2e_tok_s", r.e2e_tok_s), v("burst", r.burst);
}

template <class V, RowOf<GateRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("leg_id", r.leg_id), v("name", r.name), v("verdict", r.verdict), v("passed", r.passed);
  v("asked", r.asked), v("detail", r.detail), v("finished_wall_ns", r.finished_wall);
}

template <class V, RowOf<GateQuestionRow> R>
void visit_columns(V& v, R& r) {
  v("position", r.position), v("question", r.question), v("expected", r.expected), v("answer", r.answer);
  v("verdict", r.verdict), v("reason", r.reason), v.optional("detail_json", r.detail_json);
}

template <class V, RowOf<AssessmentRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("bracket_id", r.bracket_id), v("state", r.state), v("reason_code", r.reason_code);
  v("reason", r.reason), v("metric", r.metric), v("cell", r.cell), v.effect("effect_raw", "pct", r.effect_raw_pct);
  v.effect("effect_equal_acceptance", "pct", r.effect_equal_acceptance_pct);
  v.effect("effect_on_acceptance", "points", r.effect_on_acceptance_points), v("p_value", r.p_value);
  v("drift_pct", r.drift_pct), v("historical_effect_pct", r.historical_effect_pct);
  v("historical_base_gap_pct", r.historical_base_gap_pct), v("historical_call", r.historical_call);
  v("boots_needed", r.boots_needed), v.optional("detail_json", r.detail_json);
  v("created_wall_ns", r.created_wall), v("tool_version", r.tool_version);
}

template <class V, RowOf<VerdictRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("bracket_id", r.bracket_id), v("assessment_id", r.assessment_id), v("word", r.word);
  v("original_word", r.original_word), v("signed_by", r.signed_by), v("reason", r.reason);
  v("override_reason", r.override_reason), v("created_wall_ns", r.created_wall);
}

template <class V, RowOf<NoteRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("subject_kind", r.subject_kind), v("subject", r.subject), v("author", r.author);
  v("text", r.text), v("created_wall_ns", r.created_wall);
}

template <class V, RowOf<CalibrationRow> R>
void visit_columns(V& v, R& r) {
  v("uid", r.uid), v("result_json", r.result_json), v("created_wall_ns", r.created_wall);
  v("tool_version", r.tool_version);
}

}  // namespace bk::store
