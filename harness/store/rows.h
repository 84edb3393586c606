#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

/// The rows of results.db as plain values. One struct a table; schema/README.md gives the meaning of every column.
/// `id` is the row's number in this database, `uid` its name in every database: leave both empty when adding a row.
/// A missing number is nothing and its `*_reason` says why. Members ending in `_json` hold JSON text, "" when absent.
namespace bk::store {

using RowId = std::int64_t;

/// A number that may be missing, and then says why: exactly one of the two is set.
struct Value {
  std::optional<double> value;
  std::string reason;
  friend bool operator==(const Value&, const Value&) = default;
};

/// A machine as it was: the fingerprint is the SHA-256 of what decides its speed (kernel, CPU, memory, GPUs, drivers).
struct HostRow {
  RowId id = 0;
  std::string uid, fingerprint, name, os, kernel, cpu, gpu, driver;
  std::optional<std::int64_t> cpu_count, memory_bytes;
  std::string detail_json;
  friend bool operator==(const HostRow&, const HostRow&) = default;
};

/// One execution of one program. state: running | done | failed | interrupted.
struct RunRow {
  RowId id = 0;
  std::string uid, program, tool_version, tool_commit, argv_json;
  std::optional<RowId> host_id, bracket_id;
  std::optional<std::int64_t> seed;
  Nanos started_wall = 0;
  std::optional<Nanos> ended_wall;
  std::optional<std::int64_t> exit_code;
  std::string state = "running", error;
  friend bool operator==(const RunRow&, const RunRow&) = default;
};

/// What was decided before the first boot. The configuration hash is what `resume` compares.
struct PlanRow {
  RowId id = 0;
  std::string uid, config_hash, plan_json;
  Nanos created_wall = 0;
  friend bool operator==(const PlanRow&, const PlanRow&) = default;
};

/// A planned sequence of boots. state: planned | running | done | interrupted | failed | void.
struct BracketRow {
  RowId id = 0;
  std::string uid;
  std::optional<RowId> plan_id;  ///< nothing for imported rows
  std::string profile, profile_hash;
  std::string axis;                          ///< "GATEFUSE 0 -> 1"
  std::string knob, base_value, cand_value;  ///< the one knob that differs
  std::string base_knobs_json, cand_knobs_json;
  std::string primary_metric, primary_cell;  ///< "decode_tok_s", "C=1"
  std::string better;                        ///< "higher" | "lower"
  Nanos created_wall = 0;
  std::optional<Nanos> ended_wall;
  std::string state = "planned", reason;
  std::string reopen_reason;       ///< why a rejected axis was measured again
  std::string source;              ///< where an imported row comes from; empty: measured here
  std::string imported_json;       ///< what an imported row said, whole
  std::optional<RowId> family_id;  ///< the matrix or sweep whose base boots are this comparison's, too
  friend bool operator==(const BracketRow&, const BracketRow&) = default;
};

/// One cold start of one arm. state: starting | running | done | failed | void | interrupted.
struct BootRow {
  RowId id = 0;
  std::string uid;
  std::optional<RowId> bracket_id;  ///< nothing outside a bracket (a baseline)
  std::optional<RowId> host_id;
  std::int64_t position = 0;  ///< order in the plan, from 0
  std::int64_t attempt = 0;   ///< a boot run again after an interruption counts up
  std::string arm;            ///< "base" | "cand"
  std::string profile, profile_hash;
  std::string knobs_json;      ///< as asked
  std::string confirmed_json;  ///< as the engine confirmed
  std::string command_json, endpoint, model, engine, engine_version, image_digest, log_path;
  std::string machine_json;  ///< CPU and GPU state at the start
  Nanos started_wall = 0;
  std::optional<Nanos> ready_wall, ended_wall;
  std::string state = "starting", reason;
  friend bool operator==(const BootRow&, const BootRow&) = default;
};

/// Evidence that a knob took effect. state: held | failed | unknown.
struct ProofRow {
  RowId id = 0;
  std::string uid;
  RowId boot_id = 0;
  std::string knob, kind, source, expected, observed;  ///< kind: log | metric | env | http | file
  std::string state = "unknown", reason;
  Nanos checked_wall = 0;
  friend bool operator==(const ProofRow&, const ProofRow&) = default;
};

/// What ran inside one boot, or by hand. state: running | done | failed | interrupted.
struct LegRow {
  RowId id = 0;
  std::string uid;
  std::optional<RowId> run_id, boot_id;  ///< boot_id: nothing when run by hand
  std::string name, plan_json, endpoint, model;
  Nanos started_wall = 0;
  std::optional<Nanos> ended_wall;
  std::string state = "running", reason;
  friend bool operator==(const LegRow&, const LegRow&) = default;
};

/// One token-bearing event of a request.
struct EventRow {
  Nanos at = 0;              ///< relative to `sent`
  std::int32_t tokens = -1;  ///< -1: the server does not say
  friend bool operator==(const EventRow&, const EventRow&) = default;
};

/// One request, whole: the fields of stream/record.h. Belongs to a sample or to a gate.
struct RequestRow {
  RowId id = 0;
  std::optional<RowId> sample_id, gate_id;
  std::int64_t position = 0;      ///< within its sample or gate, from 0
  std::string outcome, reason;    ///< outcome: to_string(stream::Outcome)
  std::int64_t http_status = 0;   ///< 0: none came
  Nanos scheduled = 0, sent = 0;  ///< CLOCK_MONOTONIC of the run
  std::optional<Nanos> connect;
  bool connection_reused = false;
  std::int64_t reopened = 0;
  std::optional<Nanos> headers, ttfr, ttft, first_answer, last_token, end;
  std::vector<EventRow> events;
  std::int64_t data_events = 0;
  bool done_seen = false;
  std::string tokens_source;
  std::optional<std::int64_t> completion_tokens;
  std::optional<std::int64_t> usage_prompt_tokens, usage_completion_tokens, usage_cached_tokens, usage_reasoning_tokens;
  bool usage_seen = false;
  std::string timings_json;  ///< the server's timings, as an object
  std::string finish_reason, model, content, reasoning, tool_calls;
  std::string decode_basis;
  Value decode_tok_s, decode_tok_s_n_minus_1, tpot_ms, prefill_tok_s, e2e_tok_s;
  bool burst = false;
  friend bool operator==(const RequestRow&, const RequestRow&) = default;
};

/// One measured repetition. Acceptance is that of the whole sample, from counter deltas.
struct SampleRow {
  RowId id = 0;
  std::string uid;
  RowId leg_id = 0;
  std::string cell;                            ///< "C=1", "2K": samples of one cell repeat each other
  std::int64_t concurrency = 1, position = 0;  ///< position: repetition, from 0
  bool warmup = false, ok = false;
  Nanos started = 0, ended = 0, started_wall = 0;
  std::optional<double> accept_drafts, accept_draft_tokens, accept_accepted, accept_raw, accept_legacy,
      accept_tokens_per_step, accept_k_eff;
  std::string accept_per_position_json, accept_reason, accept_resets_json;
  std::optional<double> client_cpu_share;  ///< CPU seconds per wall second of the client
  std::optional<Nanos> client_worst_delay;
  std::map<std::string, Value> metrics;  ///< table sample_metric
  std::vector<RequestRow> requests;      ///< written with the sample; read back by Database::requests()
  friend bool operator==(const SampleRow&, const SampleRow&) = default;
};

/// One question of a gate. verdict: pass | fail | no_answer.
struct GateQuestionRow {
  std::int64_t position = 0;
  std::string question, expected, answer, verdict, reason;
  std::string detail_json;  ///< further members that the gate gave
  friend bool operator==(const GateQuestionRow&, const GateQuestionRow&) = default;
};

/// One gate's outcome in one leg. verdict: pass | fail | no_answer.
struct GateRow {
  RowId id = 0;
  std::string uid;
  RowId leg_id = 0;
  std::string name, verdict;
  std::int64_t passed = 0, asked = 0;
  std::string detail;
  Nanos finished_wall = 0;
  std::vector<GateQuestionRow> questions;  ///< table gate_question
  std::vector<RequestRow> requests;        ///< written with the gate; read back by Database::gate_requests()
  friend bool operator==(const GateRow&, const GateRow&) = default;
};

/// An effect with its interval: all three set, or none and a reason.
struct EffectRow {
  std::optional<double> value, lo, hi;
  std::string reason;
  friend bool operator==(const EffectRow&, const EffectRow&) = default;
};

/// What the tool computed. A bracket may be assessed again (a newer rule, more boots): the newest counts.
struct AssessmentRow {
  RowId id = 0;
  std::string uid;
  RowId bracket_id = 0;
  std::string state;  ///< better | worse | same | inconclusive | void
  std::string reason_code, reason;
  std::string metric, cell;  ///< the primary metric and its cell
  EffectRow effect_raw_pct, effect_equal_acceptance_pct, effect_on_acceptance_points;
  std::optional<double> p_value, drift_pct;  ///< drift_pct: signed
  std::optional<double> historical_effect_pct, historical_base_gap_pct;
  std::string historical_call;  ///< "resolved" | "unresolved" | "" when the rule does not apply
  std::optional<std::int64_t> boots_needed;
  std::string detail_json;
  Nanos created_wall = 0;
  std::string tool_version;
  friend bool operator==(const AssessmentRow&, const AssessmentRow&) = default;
};

/// What a person decided and signed. word: adopted | rejected | neutral | invalid | unavailable | deferred.
struct VerdictRow {
  RowId id = 0;
  std::string uid;
  RowId bracket_id = 0;
  std::optional<RowId> assessment_id;  ///< the assessment it was signed against
  std::string word, original_word;     ///< original_word: the word of an imported row
  std::string signed_by, reason;
  std::string override_reason;  ///< why against the assessment or a failed gate
  Nanos created_wall = 0;
  friend bool operator==(const VerdictRow&, const VerdictRow&) = default;
};

/// A hand-written note of the ledger. subject_kind: ledger | profile | axis | bracket; subject: its name or uid.
struct NoteRow {
  RowId id = 0;
  std::string uid, subject_kind, subject, author, text;
  Nanos created_wall = 0;
  friend bool operator==(const NoteRow&, const NoteRow&) = default;
};

/// The rule's measured error rates: the whole output of one calibration.
struct CalibrationRow {
  RowId id = 0;
  std::string uid, result_json;
  Nanos created_wall = 0;
  std::string tool_version;
  friend bool operator==(const CalibrationRow&, const CalibrationRow&) = default;
};

/// The name under which a boot's figures carry raw acceptance, 0..1.
inline constexpr const char* kAcceptanceFigure = "accept_raw";

/// What the samples of one cell of one boot say of one metric, warm-ups left out. Median and extremes are over the
/// samples that succeeded and have a value, and missing when none has.
struct BootFigure {
  RowId boot_id = 0;
  std::string cell, name;
  std::int64_t samples = 0, failed = 0, count = 0;  ///< succeeded, failed; values among the succeeded
  std::optional<double> median, minimum, maximum;
  friend bool operator==(const BootFigure&, const BootFigure&) = default;
};

/// How the proofs of a bracket came out: of the judged knob, and of all others.
struct ProofTally {
  std::int64_t held = 0, all = 0, others_held = 0, others = 0;
};

/// One sample's value of one metric, with the boot it belongs to.
struct MetricPoint {
  RowId boot_id = 0, sample_id = 0;
  std::int64_t boot_position = 0, sample_position = 0;
  std::string boot_uid, arm, boot_state, leg, cell, metric;
  std::int64_t concurrency = 1;
  bool sample_ok = false;
  Value value;
  std::optional<double> accept_raw, accept_k_eff;
  friend bool operator==(const MetricPoint&, const MetricPoint&) = default;
};

/// Which earlier base boots of a profile are asked for, with which metric of which cell.
struct HistoryScope {
  std::string profile, metric, cell;
  std::optional<RowId> except_bracket;
  std::optional<Nanos> ended_before;  ///< wall clock; nothing: whenever they ended
  std::size_t most = 0;               ///< the newest so many
};

/// A base boot of an earlier bracket of the same profile, with its samples of one metric.
struct HistoryBoot {
  BootRow boot;
  std::string host_fingerprint, bracket_uid;
  std::vector<MetricPoint> points;
};

/// A bracket as lists show it: with its newest assessment and newest verdict.
struct BracketSummary {
  BracketRow bracket;
  std::optional<AssessmentRow> assessment;
  std::optional<VerdictRow> verdict;
  std::int64_t boots_done = 0, gates_passed = 0, gates_asked = 0;  ///< gates of boots that are done
  std::string signed_state;  ///< of the assessment that the verdict was signed against; empty: it names none

  /// Whether the newest assessment says another state than the one that was signed: the verdict waits for a person.
  [[nodiscard]] bool is_outdated() const {
    return !signed_state.empty() && assessment && assessment->state != signed_state;
  }
};

}  // namespace bk::store
