#pragma once
#include <string>

#include "store/store.h"

/// Rows with a distinct value in every member, and rows with nothing in every member that may be missing.
namespace bk::store::fixture {

inline PlanRow full_plan() { return {0, "plan-1", "c0ffee", R"({"boots":3})", 1'000}; }

inline BracketRow full_bracket() {
  BracketRow b;
  b.uid = "br4cket0000000000000000001";
  b.profile = "sim", b.profile_hash = "abc123", b.axis = "GATEFUSE 0 -> 1", b.knob = "GATEFUSE";
  b.base_value = "0", b.cand_value = "1", b.base_knobs_json = R"({"GATEFUSE":"0"})";
  b.cand_knobs_json = R"({"GATEFUSE":"1"})", b.primary_metric = "decode_tok_s", b.primary_cell = "C=1";
  b.better = "higher", b.created_wall = 2'000, b.ended_wall = 9'000, b.state = "done", b.reason = "all boots ran";
  b.reopen_reason = "new kernel", b.source = "ledger-facts.tsv:12";
  return b;
}

inline HostRow full_host() {
  return {0,      "host-1",    "f1n6e2", "node-a", "Debian 12", "Linux 6.1 aarch64",
          "GB10", "Blackwell", "580.1",  20,       128 << 20,   R"({"numa":1})"};
}

inline BootRow full_boot() {
  BootRow b;
  b.uid = "boot-1", b.position = 2, b.attempt = 1, b.arm = "cand", b.profile = "sim", b.profile_hash = "abc123";
  b.knobs_json = R"({"GATEFUSE":"1"})", b.confirmed_json = R"({"gatefuse":true})";
  b.command_json = R"(["sim-engine","--port","0"])", b.endpoint = "http://127.0.0.1:8000", b.model = "sim-model";
  b.engine = "sim-engine", b.engine_version = "0.1.0", b.image_digest = "sha256:ab", b.log_path = "logs/boot-2.log";
  b.machine_json = R"({"governor":"performance"})", b.started_wall = 3'000, b.ready_wall = 4'000, b.ended_wall = 5'000;
  b.state = "done", b.reason = "stopped";
  return b;
}

inline RequestRow full_request() {
  RequestRow r;
  r.outcome = "ok", r.reason = "none", r.http_status = 200, r.scheduled = 10, r.sent = 20, r.connect = 30;
  r.connection_reused = true, r.reopened = 1, r.headers = 40, r.ttfr = 50, r.ttft = 60, r.first_answer = 70;
  r.last_token = 80, r.end = 90, r.events = {{60, 1}, {70, -1}, {80, 5}}, r.data_events = 5, r.done_seen = true;
  r.tokens_source = "continuous_usage", r.completion_tokens = 6, r.usage_prompt_tokens = 7;
  r.usage_completion_tokens = 6, r.usage_cached_tokens = 3, r.usage_reasoning_tokens = 2, r.usage_seen = true;
  r.timings_json = R"({"predicted_ms":12.5})", r.finish_reason = "length", r.model = "sim-model";
  r.content = "안녕 | \"x\"\n" + std::string(1, '\0') + "after a zero byte", r.reasoning = "because";
  r.tool_calls = "[{}]", r.decode_basis = "exact", r.decode_tok_s = {57.25, ""}, r.decode_tok_s_n_minus_1 = {56.5, ""};
  r.tpot_ms = {17.5, ""}, r.prefill_tok_s = {2'800.5, ""}, r.e2e_tok_s = {50.125, ""}, r.burst = true;
  return r;
}

inline RequestRow empty_request() {
  RequestRow r;
  r.outcome = "connect", r.reason = "connection refused", r.tokens_source = "none", r.decode_basis = "none";
  for (Value* value : {&r.decode_tok_s, &r.decode_tok_s_n_minus_1, &r.tpot_ms, &r.prefill_tok_s, &r.e2e_tok_s}) {
    *value = {std::nullopt, "failed_request"};
  }
  return r;
}

inline SampleRow full_sample(RowId leg) {
  SampleRow s;
  s.uid = "sample-1", s.leg_id = leg, s.cell = "C=1", s.concurrency = 4, s.position = 2, s.warmup = false, s.ok = true;
  s.started = 100, s.ended = 200, s.started_wall = 300, s.accept_drafts = 10, s.accept_draft_tokens = 50;
  s.accept_accepted = 16, s.accept_raw = 0.32, s.accept_legacy = 0.53, s.accept_tokens_per_step = 2.6;
  s.accept_k_eff = 5, s.accept_per_position_json = "[0.7,0.4]", s.accept_reason = "stated beside a value";
  s.accept_resets_json = R"(["x_total"])", s.client_cpu_share = 0.0125, s.client_worst_delay = 41'000;
  s.metrics = {{"decode_tok_s", {57.25, ""}}, {"step_s", {std::nullopt, "concurrency_above_1"}}};
  s.requests = {full_request(), empty_request()};
  return s;
}

inline SampleRow empty_sample(RowId leg) {
  SampleRow s;
  s.uid = "sample-2", s.leg_id = leg, s.cell = "C=1", s.accept_reason = "metrics_unavailable";
  s.metrics = {{"decode_tok_s", {std::nullopt, "failed_request"}}};
  return s;
}

inline LegRow full_leg(RowId run, RowId boot) {
  return {0, "leg-1", run, boot, "decode", R"({"reps":6})", "http://127.0.0.1:8000", "sim-model", 1, 2, "done", "ok"};
}

inline GateRow full_gate(RowId leg) {
  GateRow g;
  g.uid = "gate-1", g.leg_id = leg, g.name = "check-quality", g.verdict = "fail", g.passed = 8, g.asked = 9;
  g.detail = "8/9", g.finished_wall = 77;
  g.questions = {{0, "where?", "Seoul", "Busan", "fail", "wrong city", R"({"depth":0.5})"},
                 {1, "when?", "1988", "", "no_answer", "empty", ""}};
  g.requests = {empty_request()};
  return g;
}

inline AssessmentRow full_assessment(RowId bracket) {
  AssessmentRow a;
  a.uid = "assess-1", a.bracket_id = bracket, a.state = "better", a.reason_code = "clears_band";
  a.reason = "interval above the band", a.metric = "decode_tok_s", a.cell = "C=1";
  a.effect_raw_pct = {3.5, 2.5, 4.5, ""}, a.effect_equal_acceptance_pct = {3.4, 3.0, 3.8, ""};
  a.effect_on_acceptance_points = {0.1, -0.2, 0.4, ""}, a.p_value = 0.001, a.drift_pct = -0.3;
  a.historical_effect_pct = 3.47, a.historical_base_gap_pct = 0.05, a.historical_call = "resolved";
  a.boots_needed = 5, a.detail_json = R"({"df":2})", a.created_wall = 8'000, a.tool_version = "0.1.0";
  return a;
}

inline AssessmentRow empty_assessment(RowId bracket) {
  AssessmentRow a;
  a.uid = "assess-0", a.bracket_id = bracket, a.state = "inconclusive", a.reason_code = "no_degree_of_freedom";
  a.effect_raw_pct.reason = a.effect_equal_acceptance_pct.reason = "one_boot";
  a.effect_on_acceptance_points.reason = "no_acceptance", a.created_wall = 7'000;
  return a;
}

inline VerdictRow full_verdict(RowId bracket, RowId assessment) {
  return {0,          "verdict-1",    bracket,          assessment, "adopted", "adopted-neutral",
          "A. Nyman", "it is faster", "gate was flaky", 8'500};
}

}  // namespace bk::store::fixture
