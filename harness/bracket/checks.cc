#include "bracket/checks.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace bk::bracket {
namespace {

/// A prompt of which more than this came from a cache was asked before in this boot; a shared template is less.
constexpr double kCachedShare = 0.5;

std::string shown(const boot::KnobMap& confirmed, const std::string& knob) {
  const auto it = confirmed.find(knob);
  return it == confirmed.end() ? "nothing" : it->second;
}

std::set<std::string> knobs_that_differ(const boot::KnobMap& a, const boot::KnobMap& b) {
  std::set<std::string> names;
  for (const auto* map : {&a, &b}) {
    for (const auto& [name, value] : *map) {
      if (shown(a, name) != shown(b, name)) names.insert(name);
    }
  }
  return names;
}

bool is_judged(const std::vector<KnobChange>& changes, const std::string& knob) {
  return std::any_of(changes.begin(), changes.end(), [&](const KnobChange& c) { return c.knob == knob; });
}

VoidCause check_change(const KnobChange& change, stats::Arm arm, const std::vector<boot::Proof>& proofs) {
  const auto judged =
      std::find_if(proofs.begin(), proofs.end(), [&](const boot::Proof& proof) { return proof.knob == change.knob; });
  const std::string& asked = arm == stats::Arm::kBase ? change.base_value : change.cand_value;
  if (judged == proofs.end() || !judged->confirmed) {
    const std::string why = judged == proofs.end() ? "no_proof_declared" : judged->reason;
    return {"proof_failed",
            fmt::format("Nothing in the running engine shows that {}={} took effect in the {} arm ({}).", change.knob,
                        asked, to_string(arm), why)};
  }
  if (arm == stats::Arm::kBase && judged->confirmed == change.cand_value) {
    return {"base_equals_cand",
            fmt::format("The engine already runs {}={} in the base arm: base and candidate are the same.", change.knob,
                        change.cand_value)};
  }
  if (judged->ok) return {};
  return {"proof_failed", fmt::format("{} was asked to be {} in the {} arm; the engine says {}.", change.knob, asked,
                                      to_string(arm), *judged->confirmed)};
}

VoidCause check_pair(const Plan& plan, const BootEvidence& first, const BootEvidence& other, int first_index,
                     int index) {
  const std::string where = fmt::format("boots {} and {}", first_index + 1, index + 1);
  if (!first.engine_version.empty() && !other.engine_version.empty() && first.engine_version != other.engine_version) {
    return {"engine_changed", fmt::format("The engine's version changed between {}: {} and {}.", where,
                                          first.engine_version, other.engine_version)};
  }
  auto names = knobs_that_differ(first.confirmed, other.confirmed);
  const std::vector<KnobChange> changes = plan.changes();
  if (first.arm != other.arm && !changes.empty()) {
    // A knob that one arm alone confirms hangs on the judged one: a draft's length where the other arm drafts nothing.
    std::erase_if(names, [&](const std::string& name) {
      return !is_judged(changes, name) && (!first.confirmed.contains(name) || !other.confirmed.contains(name));
    });
    for (const KnobChange& change : changes) {
      if (names.erase(change.knob) != 0) continue;
      return {"base_equals_cand",
              fmt::format("The engine runs {}={} in both arms ({}): base and candidate are the same.", change.knob,
                          shown(first.confirmed, change.knob), where)};
    }
  }
  if (names.empty()) return {};
  const std::string& name = *names.begin();
  return {"two_knobs_differ", fmt::format("{} differs too between {}: {} and {}.", name, where,
                                          shown(first.confirmed, name), shown(other.confirmed, name))};
}

}  // namespace

VoidCause check_judged_proof(const Plan& plan, stats::Arm arm, const std::vector<boot::Proof>& proofs) {
  for (const KnobChange& change : plan.changes()) {
    if (VoidCause cause = check_change(change, arm, proofs)) return cause;
  }
  return {};
}

VoidCause check_other_proofs(const Plan& plan, stats::Arm arm, const std::vector<boot::Proof>& proofs) {
  const std::vector<KnobChange> changes = plan.changes();
  for (const boot::Proof& proof : proofs) {
    if (is_judged(changes, proof.knob) || proof.ok || proof.reason != "value_differs") continue;
    return {"proof_failed", fmt::format("{} was asked to be {} in the {} arm; the engine says {}.", proof.knob,
                                        proof.asked, to_string(arm), proof.confirmed.value_or("nothing"))};
  }
  return {};
}

VoidCause check_boots(const Plan& plan, const std::vector<BootEvidence>& boots) {
  // Neighbours and the first boot: every difference shows in one of these pairs.
  for (std::size_t i = 1; i < boots.size(); ++i) {
    for (const std::size_t j : {i - 1, std::size_t{0}}) {
      VoidCause cause = check_pair(plan, boots[j], boots[i], static_cast<int>(j), static_cast<int>(i));
      if (cause) return cause;
    }
  }
  return {};
}

VoidCause check_counters(const std::string& leg, const std::optional<engine::Counters>& before,
                         const std::optional<engine::Counters>& after) {
  if (!before || !after) return {};
  const engine::Continuity seen = engine::continuity_between(*before, *after);
  if (seen.restarted) return {"engine_restarted", fmt::format("The engine's process began anew during {}.", leg)};
  if (!seen.resets.empty()) {
    return {"engine_restarted",
            fmt::format("The engine's counters began anew during {} ({}).", leg, join(seen.resets, ", "))};
  }
  return {};
}

VoidCause check_sample(const load::Sample& sample) {
  const std::string where = fmt::format("{} {} repetition {}", sample.leg, sample.cell, sample.index + 1);
  if (sample.acceptance.reason == "engine_restarted" || sample.acceptance.reason == "counter_reset") {
    return {"engine_restarted",
            fmt::format("The engine's counters began anew during {} ({}).", where, sample.acceptance.reason)};
  }
  for (const stream::RequestRecord& r : sample.requests) {
    if (!r.ok()) {
      const std::string why = r.reason.empty() ? std::string(to_string(r.outcome)) : r.reason;
      return {"failed_requests", fmt::format("A request failed in {}: {}.", where, why)};
    }
    if (!r.usage || !r.usage->cached_tokens || !r.usage->prompt_tokens) continue;
    const auto cached = static_cast<double>(*r.usage->cached_tokens),
               prompt = static_cast<double>(*r.usage->prompt_tokens);
    if (cached > kCachedShare * prompt) {
      return {"prefix_cache_hit", fmt::format("{} of {} prompt tokens came from the prefix cache in {}.",
                                              *r.usage->cached_tokens, *r.usage->prompt_tokens, where)};
    }
  }
  return {};
}

Status CheckingSink::sample(const load::Sample& sample) {
  BK_TRY(next_.sample(sample));
  if (cause_) return {};
  cause_ = check_sample(sample);
  if (cause_) return fail(Errc::kVoid, cause_.sentence);
  return {};
}

}  // namespace bk::bracket
