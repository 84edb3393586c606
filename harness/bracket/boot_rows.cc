#include "bracket/boot_rows.h"

#include "base/clock.h"
#include "bracket/stored_plan.h"

namespace bk::bracket {
namespace {

std::string proof_state(const boot::Proof& proof) {
  if (proof.ok) return "held";
  return proof.reason == "value_differs" ? "failed" : "unknown";
}

const char* proof_kind(const boot::Profile& profile, const std::string& knob) {
  const boot::Knob* found = profile.find(knob);
  if (found == nullptr) return "log";
  switch (found->proof.kind) {
    case boot::ProofRule::Kind::kMetric:
      return "metric";
    case boot::ProofRule::Kind::kEnviron:
      return "env";
    case boot::ProofRule::Kind::kJson:
      return "http";
    case boot::ProofRule::Kind::kNone:
    case boot::ProofRule::Kind::kLog:
      break;
  }
  return "log";
}

}  // namespace

Status store_facts(store::Database& database, const boot::Profile& profile, const boot::BootFacts& facts,
                   store::BootRow& row) {
  row.confirmed_json = knobs_json(facts.confirmed).dump();
  row.command_json = Json(facts.command).dump();
  row.endpoint = facts.endpoint.base_url;
  row.model = facts.endpoint.model;
  row.engine_version = facts.fingerprint["engine_version"].as_string().value_or("");
  row.image_digest = facts.fingerprint["image_id"].as_string().value_or("");
  row.machine_json = facts.fingerprint.dump();
  row.log_path = facts.log_path.string();
  row.ready_wall = wall_now();
  row.state = "running";
  BK_TRY(database.update_boot(row));
  for (const boot::Proof& proof : facts.proofs) {
    store::ProofRow stored;
    stored.boot_id = row.id;
    stored.knob = proof.knob;
    stored.kind = proof_kind(profile, proof.knob);
    stored.source = proof.evidence;
    stored.expected = proof.asked;
    stored.observed = proof.confirmed.value_or("");
    stored.state = proof_state(proof);
    stored.reason = proof.reason;
    stored.checked_wall = wall_now();
    BK_TRY(database.add_proof(stored));
  }
  return {};
}

Status alive_after_failure(boot::Booted& engine) {
  SystemClock clock;
  const Nanos limit = clock.now() + kSecond;
  Status alive = engine.alive();
  while (alive && clock.now() < limit) {
    clock.sleep_until(clock.now() + 20 * kMillisecond);
    alive = engine.alive();
  }
  return alive;
}

}  // namespace bk::bracket
