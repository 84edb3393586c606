#include "physics/params.h"

#include "base/text.h"

namespace bk::physics {
namespace {

// Cumulative acceptance by position. The first five keep the proportions of the measured drafter (78.5, 56.4, 39.6,
// 28.6, 21.5 %) scaled to 1.40 accepted per step, which with 42 ms steps gives the ledger's 57 tok/s at C = 1; the two
// beyond k = 5 continue it so that k = 7 adds the ledger's +0.2 tokens per step.
const std::vector<double> kAcceptance = {0.4893, 0.3516, 0.2468, 0.1783, 0.1340, 0.1100, 0.0900};

Params dsv4() {
  Params p;
  p.profile = "sim-dsv4";
  p.accept_cumulative = kAcceptance;
  return p;
}

void shorten(Params& p, double factor) {
  for (double* time : {&p.step_fixed_s, &p.step_per_sequence_s, &p.step_per_context_token_s, &p.prefill_per_token_s,
                       &p.draft_step_s, &p.draft_step_beyond_s, &p.stall_s}) {
    *time /= factor;
  }
}

Params ten_times_shorter(Params p) {
  shorten(p, 10);
  p.profile = "sim";
  return p;
}

}  // namespace

std::vector<std::string> profile_names() { return {"sim", "sim-dsv4"}; }

Result<Params> profile(const std::string& name) {
  if (name == "sim-dsv4") return dsv4();
  if (name == "sim") return ten_times_shorter(dsv4());
  const auto meant = nearest(name, profile_names());
  return fail(Errc::kUsage,
              meant ? "unknown profile; did you mean " + *meant + "?" : "unknown profile; use sim or sim-dsv4", name);
}

Params faster(Params params, double factor) {
  if (factor == 1) return params;
  shorten(params, factor);
  params.profile += fmt::format(" x{:g}", factor);
  return params;
}

Json Params::to_json() const {
  Json j = Json::object();
  j.set("profile", profile);
  j.set("step_fixed_s", step_fixed_s).set("step_per_sequence_s", step_per_sequence_s);
  j.set("step_per_context_token_s", step_per_context_token_s).set("prefill_per_token_s", prefill_per_token_s);
  j.set("decode_scale", decode_scale).set("draft_step_s", draft_step_s).set("draft_step_beyond_s", draft_step_beyond_s);
  j.set("spec_tokens", spec_tokens).set("reference_spec_tokens", reference_spec_tokens);
  j.set("accept_cumulative", accept_cumulative).set("accept_factor", accept_factor);
  j.set("deep_accept_factor", deep_accept_factor).set("deep_context_tokens", deep_context_tokens);
  j.set("content_luck_sd", content_luck_sd).set("request_luck_sd", request_luck_sd);
  j.set("max_num_batched", max_num_batched).set("max_num_seqs", max_num_seqs).set("max_model_len", max_model_len);
  j.set("block_tokens", block_tokens).set("kv_tokens", kv_tokens);
  j.set("boot_sd", boot_sd).set("drift_per_boot", drift_per_boot).set("step_sd", step_sd);
  j.set("stall_per_step", stall_per_step).set("stall_s", stall_s);
  j.set("stride_bug", stride_bug).set("logit_bug", logit_bug).set("korean_corrupt_every", korean_corrupt_every);
  return j;
}

}  // namespace bk::physics
