#include "physics/knobs.h"

#include <cmath>
#include <functional>

#include "base/text.h"

namespace bk::physics {
namespace {

struct Rule {
  Knob knob;
  std::function<bool(Params&, const std::string&)> apply;  // false: the value is out of range
};

std::optional<std::int64_t> int_in(const std::string& text, std::int64_t low, std::int64_t high) {
  const auto value = parse_int(text);
  if (!value || *value < low || *value > high) return std::nullopt;
  return value;
}

std::optional<double> double_in(const std::string& text, double low, double high) {
  const auto value = parse_double(text);
  if (!value || *value < low || *value > high) return std::nullopt;
  return value;
}

// A switch: `on` runs for 1, nothing for 0.
std::function<bool(Params&, const std::string&)> switched(std::function<void(Params&)> on) {
  return [on = std::move(on)](Params& p, const std::string& text) {
    if (text == "1") on(p);
    return text == "0" || text == "1";
  };
}

std::function<bool(Params&, const std::string&)> number(double Params::*field, double low, double high) {
  return [=](Params& p, const std::string& text) {
    const auto value = double_in(text, low, high);
    if (value) p.*field = *value;
    return value.has_value();
  };
}

bool set_spec_tokens(Params& p, const std::string& text) {
  const auto k = int_in(text, 0, static_cast<std::int64_t>(p.accept_cumulative.size()));
  if (k) p.spec_tokens = static_cast<int>(*k);
  return k.has_value();
}

// Source: ledger 2026-08-10, MARKOV_TOPK 0 -> 512, C = 1 at equal acceptance +1.4 %.
bool set_markov_topk(Params& p, const std::string& text) {
  const auto k = int_in(text, 0, 129280);
  if (k && *k > 0 && *k <= 2048) p.decode_scale /= 1.014;
  return k.has_value();
}

// The index is computed in 21 / frequency layers, rounded up; the depth part of a step is proportional to that, and
// reused indices that are too old cost acceptance. Source: ledger 2026-08-11, IDXFREQ 4 -> 6/8/10/12 at 128K: +9, 0,
// +2, -12 %.
bool set_index_frequency(Params& p, const std::string& text) {
  const auto frequency = int_in(text, 1, 16);
  if (!frequency) return false;
  const auto layers = [](std::int64_t f) { return std::ceil(21.0 / static_cast<double>(f)); };
  p.step_per_context_token_s *= layers(*frequency) / layers(4);
  p.deep_accept_factor = *frequency <= 6 ? 1.0 : *frequency <= 10 ? 0.81 : 0.57;
  return true;
}

// Source: ledger 2026-08-10, MAX_NUM_BATCHED 4096 -> 8192: prefill level, KV space 2.66 M -> 1.72 M tokens.
bool set_max_num_batched(Params& p, const std::string& text) {
  const auto tokens = int_in(text, 256, 32768);
  if (!tokens) return false;
  p.max_num_batched = static_cast<int>(*tokens);
  p.kv_tokens = static_cast<std::int64_t>(2.66e6 * std::pow(0.65, std::log2(static_cast<double>(*tokens) / 4096.0)));
  return true;
}

bool set_max_num_seqs(Params& p, const std::string& text) {
  const auto sequences = int_in(text, 1, 4096);
  if (sequences) p.max_num_seqs = static_cast<int>(*sequences);
  return sequences.has_value();
}

// "0", or "1/N": every N-th Korean answer.
bool set_korean_corrupt(Params& p, const std::string& text) {
  if (text == "0") return true;
  if (!text.starts_with("1/")) return false;
  const auto every = int_in(text.substr(2), 1, 1000000);
  if (every) p.korean_corrupt_every = static_cast<int>(*every);
  return every.has_value();
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      // Source: ledger 2026-08-10, GATEFUSE 0 -> 1, C = 1 at equal acceptance +3.5 %.
      {{"GATEFUSE", "0", "0|1: fused router gate, +3.5 % decode"},
       switched([](Params& p) { p.decode_scale /= 1.035; })},
      // Source: ledger 2026-08-08/09, SPEC_TOKENS 5 -> 3: -7.2 %, 5 -> 7: -9.8 %.
      {{"SPEC_TOKENS", "5", "0..7: draft tokens per step"}, set_spec_tokens},
      {{"MARKOV_TOPK", "0", "0..129280: candidates of the draft bias; 512 gives +1.4 % decode"}, set_markov_topk},
      // Source: ledger 2026-08-11, REFINE 0 -> 1: acceptance 27.0 -> 14.5, C = 1 -33 %.
      {{"REFINE", "0", "0|1: second draft pass; acceptance collapses"}, switched([](Params& p) {
         p.accept_factor *= 0.54;
         p.decode_scale *= 1.09;
       })},
      {{"IDXFREQ", "4", "1..16: layers that share one index; 6 helps deep decode, more hurts acceptance there"},
       set_index_frequency},
      // Source: ledger 2026-08-11, ONESHOT 0 -> 1, C = 1 at equal acceptance +7.5 %.
      {{"ONESHOT", "0", "0|1: one-shot all-reduce, +7.5 % decode"},
       switched([](Params& p) { p.decode_scale /= 1.075; })},
      {{"MAX_NUM_BATCHED", "4096", "256..32768: token budget of a step"}, set_max_num_batched},
      {{"MAX_NUM_SEQS", "32", "1..4096: sequences that may run at once"}, set_max_num_seqs},
      {{"NULLKNOB", "0", "0|1: no effect"}, switched([](Params&) {})},
      {{"STRIDE_BUG", "0", "0|1: defect, loses facts deep in long prompts"},
       switched([](Params& p) { p.stride_bug = true; })},
      {{"LOGIT_BUG", "0", "0|1: defect, greedy text parts from the first word on"},
       switched([](Params& p) { p.logit_bug = true; })},
      {{"KOREAN_CORRUPT", "0", "0|1/N: defect, corrupts every N-th Korean answer"}, set_korean_corrupt},
      {{"BOOT_SD", "0.003", "0..1: relative spread of step time between boots"}, number(&Params::boot_sd, 0, 1)},
      {{"DRIFT", "0", "-0.1..0.1: relative step time added per boot"}, number(&Params::drift_per_boot, -0.1, 0.1)},
      {{"STEP_SD", "0.01", "0..1: relative spread of single steps"}, number(&Params::step_sd, 0, 1)},
      {{"SEED", "1", "seed of all noise; the --seed flag by another name"},
       [](Params&, const std::string& text) { return int_in(text, 0, INT64_MAX).has_value(); }},
  };
  return all;
}

}  // namespace

const std::vector<Knob>& knobs() {
  static const std::vector<Knob> all = [] {
    std::vector<Knob> list;
    for (const Rule& rule : rules()) list.push_back(rule.knob);
    return list;
  }();
  return all;
}

Result<Configured> configure(const std::string& profile_name, const std::map<std::string, std::string>& values) {
  Configured out;
  BK_ASSIGN(out.params, profile(profile_name));
  std::vector<std::string> names;
  for (const Rule& rule : rules()) {
    names.push_back(rule.knob.name);
    const auto given = values.find(rule.knob.name);
    const std::string value = given == values.end() ? rule.knob.default_value : given->second;
    if (!rule.apply(out.params, value)) {
      return fail(Errc::kUsage, "value out of range; " + rule.knob.name + " takes " + rule.knob.help,
                  rule.knob.name + "=" + value);
    }
    out.values[rule.knob.name] = value;
  }
  for (const auto& [name, value] : values) {
    if (out.values.count(name) != 0) continue;
    const auto meant = nearest(name, names);
    return fail(Errc::kUsage,
                meant ? "unknown knob; did you mean " + *meant + "?" : "unknown knob; --list-knobs names them",
                name + "=" + value);
  }
  return out;
}

}  // namespace bk::physics
