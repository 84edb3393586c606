#pragma once
#include <string>

#include "store/store.h"

/// A database with one bracket of every fate, the same each time: what the golden page is rendered from.
namespace bk::ledger::fixture {

inline constexpr Nanos kDay = 86'400 * kSecond;
inline constexpr Nanos kFirstDay = 20'000 * kDay;  // 2024-10-04

struct BootSpec {
  const char* arm;
  std::vector<double> decode;
  const char* state = "done";
};

inline store::RowId add_bracket(store::Database& db, const std::string& uid, int day, const std::string& axis,
                                const std::string& state, const std::string& plan_json = R"({"boots":3})") {
  store::BracketRow b;
  b.uid = uid, b.profile = "sim|dsv4", b.profile_hash = "abc", b.axis = axis, b.knob = "GATEFUSE", b.base_value = "0";
  b.cand_value = "1", b.primary_metric = "decode_tok_s", b.primary_cell = "C=1", b.better = "higher";
  b.created_wall = kFirstDay + day * kDay, b.state = state;
  store::PlanRow plan{0, "plan-" + uid, "hash", plan_json, b.created_wall};
  return db.create_bracket(plan, b).value();
}

inline void add_boot(store::Database& db, store::RowId bracket, int position, const BootSpec& spec) {
  store::BootRow boot;
  boot.bracket_id = bracket, boot.position = position, boot.arm = spec.arm, boot.state = spec.state;
  boot.started_wall = kFirstDay + position * kSecond;
  if (boot.state == "void") boot.reason = "proof failed: gatefuse=0";
  const store::RowId id = db.begin_boot(boot).value();
  store::ProofRow proof;
  proof.boot_id = id, proof.knob = "GATEFUSE", proof.kind = "log",
  proof.state = boot.state == "done" ? "held" : "failed";
  db.add_proof(proof).value();
  const store::RowId leg = db.begin_leg({0, "", {}, id, "decode", "", "", "", 1, {}, "done", ""}).value();
  std::int64_t at = 0;
  for (const double value : spec.decode) {
    store::SampleRow sample;
    sample.leg_id = leg, sample.cell = "C=1", sample.position = at++, sample.ok = value > 0;
    sample.accept_raw = 0.3 + value / 10'000;
    sample.metrics["decode_tok_s"] = value > 0 ? store::Value{value, ""} : store::Value{std::nullopt, "failed_request"};
    sample.metrics["ttft_ms"] = {100 + value, ""};
    db.add_sample(sample).value();
  }
  store::SampleRow warmup;
  warmup.leg_id = leg, warmup.cell = "C=1", warmup.warmup = true, warmup.ok = true,
  warmup.metrics["decode_tok_s"] = {1, ""};
  db.add_sample(warmup).value();
  store::SampleRow probe;
  probe.leg_id = leg, probe.cell = "2K", probe.ok = true, probe.metrics["prefill_tok_s"] = {2'800 + position * 5.0, ""};
  db.add_sample(probe).value();
  store::GateRow gate;
  gate.leg_id = leg, gate.name = "check-quality", gate.verdict = position == 1 ? "fail" : "pass";
  gate.passed = position == 1 ? 8 : 9, gate.asked = 9;
  db.add_gate(gate).value();
}

inline void fill(store::Database& db) {
  // Adopted, with every figure; values of the historical anchor 62.11/64.28/62.14.
  const store::RowId good =
      add_bracket(db, "aaaa111100000000", 0, "GATEFUSE 0 -> 1", "done",
                  R"({"base":{"GATEFUSE":"0"},"decode":{"max_tokens":1024,"temperature":0.0,"ignore_eos":true}})");
  add_boot(db, good, 0, {"base", {62.0, 62.11, 62.3}});
  add_boot(db, good, 1, {"cand", {64.28, 64.0, 64.5, 0}});
  add_boot(db, good, 2, {"base", {62.14}});
  store::AssessmentRow a;
  a.uid = "assessment-1", a.bracket_id = good, a.state = "better", a.reason_code = "clears_band";
  a.reason = "the interval lies above the band of 0.5 %", a.metric = "decode_tok_s", a.cell = "C=1";
  a.effect_raw_pct = {3.4674, 2.1, 4.85, ""}, a.effect_equal_acceptance_pct = {3.41, 2.9, 3.92, ""};
  a.effect_on_acceptance_points = {0.02, -0.4, 0.44, ""}, a.p_value = 0.00123, a.drift_pct = 0.0483;
  a.historical_effect_pct = 3.4688, a.historical_base_gap_pct = 0.0483, a.historical_call = "gain";
  a.created_wall = kFirstDay;
  const store::RowId assessed = db.add_assessment(a).value();
  db.add_verdict({0, "verdict-1", good, assessed, "adopted", "adopted-neutral", "A. Nyman",
                  "fewer launches | same text", "one gate failed: known flake", kFirstDay + kDay})
      .value();

  // Rejected.
  const store::RowId bad = add_bracket(db, "bbbb222200000000", 1, "SPEC_TOKENS 5 -> 7", "done");
  a.uid = "assessment-2", a.bracket_id = bad, a.state = "worse", a.reason = "", a.effect_raw_pct = {-4.2, -5, -3.4, ""};
  db.add_assessment(a).value();
  db.add_verdict({0, "verdict-2", bad, {}, "rejected", "", "B. Lind", "slower *everywhere*", "", kFirstDay + 2 * kDay})
      .value();

  // Unsigned and inconclusive, one boot void, nothing that may be missing present.
  const store::RowId open = add_bracket(db, "cccc333300000000", 3, "REFINE 0 -> 1", "interrupted");
  add_boot(db, open, 0, {"base", {61.5}});
  add_boot(db, open, 1, {"cand", {}, "void"});
  store::AssessmentRow none;
  none.uid = "assessment-3", none.bracket_id = open, none.state = "inconclusive", none.reason_code = "too_few_boots";
  none.effect_raw_pct.reason = "no_cand_boot", none.effect_equal_acceptance_pct.reason = "no_cand_boot";
  none.effect_on_acceptance_points.reason = "no_cand_boot", none.boots_needed = 7, none.created_wall = kFirstDay;
  db.add_assessment(none).value();

  // Planned only.
  add_bracket(db, "dddd444400000000", 4, "ONESHOT 0 -> 1", "planned");
  db.add_note(
        {0, "note-1", "ledger", "", "B. Lind", "fans <replaced>\n| a | `row` |\r\n## no heading", kFirstDay + 3 * kDay})
      .value();
  db.add_note({0, "note-2", "bracket", "cccc333300000000", "B. Lind", "power cut", kFirstDay + 3 * kDay}).value();
}

}  // namespace bk::ledger::fixture
