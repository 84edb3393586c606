#include "bracket/one_boot.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "boot/run_lock.h"
#include "boot/shared_lanes.h"
#include "bracket/boot_rows.h"
#include "bracket/store_sink.h"
#include "bracket/stored_plan.h"
#include "engine/metrics_client.h"
#include "leg/greedy.h"
#include "leg/machine_state.h"
#include "leg/quality.h"

namespace bk::bracket {
namespace {

std::optional<engine::Counters> counters_of(http::Transport& transport, const boot::Booted& engine) {
  auto counters = engine::fetch_counters(transport, engine.facts().endpoint);
  return counters ? std::optional(std::move(*counters)) : std::nullopt;
}

/// Two brackets at once load each other, whether the machine looks busy at either end of a leg or not.
void add_lanes(std::vector<std::string> lanes, std::vector<std::string>& marks) {
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  for (const std::string& lane : lanes) marks.push_back("shared with " + lane);
}

}  // namespace

OneBoot::OneBoot(const Tools& tools, const boot::Profile& profile, BootSlot slot, store::RowId run,
                 std::vector<BootEvidence> before)
    : tools_(tools), profile_(profile), slot_(std::move(slot)), run_(run), before_(std::move(before)) {
  evidence_.arm = slot_.arm;
}

std::string OneBoot::label() const { return fmt::format("boot {}/{} {}", slot_.position + 1, slot_.of, slot_.name); }

Status OneBoot::begin(const boot::Arm& arm) {
  options_.seed = slot_.plan.options.seed;
  options_.boot_index = slot_.position;
  options_.bin_dir = tools_.bin_dir;
  options_.api_key = tools_.api_key;
  options_.interrupted = tools_.stopped;
  options_.log_file = tools_.log_dir / fmt::format("bracket{}-boot{}-attempt{}.log", slot_.bracket, slot_.position + 1,
                                                   slot_.attempt + 1);
  tools_.watcher.stage(label() + " · booting");
  row_.bracket_id = slot_.bracket;
  BK_ASSIGN(row_.host_id, tools_.database.add_host(store::this_host()));
  row_.position = slot_.position;
  row_.attempt = slot_.attempt;
  row_.arm = to_string(evidence_.arm);
  row_.profile = slot_.plan.profile;
  row_.profile_hash = slot_.plan.profile_hash;
  row_.knobs_json = knobs_json(arm.resolved).dump();
  row_.log_path = options_.log_file.string();
  row_.started_wall = wall_now();
  BK_ASSIGN(row_.id, tools_.database.begin_boot(row_));
  return {};
}

Status OneBoot::record_facts(const boot::BootFacts& facts) {
  evidence_.confirmed = facts.confirmed;
  evidence_.engine_version = facts.fingerprint["engine_version"].as_string().value_or("");
  return store_facts(tools_.database, profile_, facts, row_);
}

VoidCause OneBoot::check(const boot::BootFacts& facts) {
  std::vector<BootEvidence> all = before_;
  all.push_back(evidence_);
  for (const Plan* plan : slot_.proven) {
    if (VoidCause cause = check_judged_proof(*plan, evidence_.arm, facts.proofs)) return cause;
  }
  if (VoidCause cause = check_boots(slot_.plan, all)) return cause;
  return check_other_proofs(slot_.plan, evidence_.arm, facts.proofs);
}

Result<VoidCause> OneBoot::leg(http::Transport& transport, boot::Booted& engine, const std::string& name,
                               const Json& plan, const std::function<Status(leg::Sink&)>& body) {
  store::LegRow row;
  row.run_id = run_;
  row.boot_id = row_.id;
  row.name = name;
  const leg::MachineState machine = leg::read_machine_state();
  std::vector<std::string> beside = boot::other_lanes(boot::run_lock_dir());
  Json planned = plan;
  row.plan_json = planned.set("machine_before", leg::to_json(machine)).dump();
  row.endpoint = row_.endpoint;
  row.model = row_.model;
  row.started_wall = wall_now();
  BK_ASSIGN(const store::RowId id, tools_.database.begin_leg(row));
  CheckingSink checking(tools_.watcher);
  StoreSink sink(tools_.database, id, checking);
  const std::optional<engine::Counters> before = counters_of(transport, engine);
  const Status done = body(sink);
  const Status alive = checking.cause().reason == "failed_requests" ? alive_after_failure(engine) : engine.alive();
  if (!alive) {
    const Error error{Errc::kEnvironment, alive.error().what, alive.error().where};
    BK_TRY(tools_.database.end_leg(id, "failed", error.text()));
    return fail(error);
  }
  if (checking.cause()) {
    BK_TRY(tools_.database.end_leg(id, "failed", checking.cause().sentence));
    return checking.cause();
  }
  if (!done) {
    const bool stopped = done.error().code == Errc::kInterrupted;
    BK_TRY(tools_.database.end_leg(id, stopped ? "interrupted" : "failed", done.error().text()));
    return fail(done.error());
  }
  VoidCause cause = check_counters(name, before, counters_of(transport, engine));
  const leg::MachineState machine_after = leg::read_machine_state();
  std::vector<std::string> marks = leg::machine_marks(machine, machine_after);
  const std::vector<std::string> still = boot::other_lanes(boot::run_lock_dir());
  beside.insert(beside.end(), still.begin(), still.end());
  add_lanes(std::move(beside), marks);
  const double busy_share = std::max(machine.busy_share.value_or(0), machine_after.busy_share.value_or(0));
  if (!cause) cause = judge_marks(marks, busy_share, name);
  BK_TRY(tools_.database.end_leg(id, cause ? "failed" : "done", cause ? cause.sentence : join(marks, ", ")));
  return cause;
}

VoidCause OneBoot::judge_marks(const std::vector<std::string>& marks, double busy_share, const std::string& name) {
  if (std::find(marks.begin(), marks.end(), "gpu_throttled") != marks.end()) {
    return {"gpu_throttled",
            fmt::format("A GPU's clock was held down by heat or power around {} of {}.", name, label())};
  }
  if (profile_.foreign_load_max && busy_share > *profile_.foreign_load_max) {
    return {"foreign_load",
            fmt::format("Others used {:.0f} % of the processors around {} of {}, more than the profile's {:.0f} % "
                        "(FOREIGN_LOAD_MAX): stop them, or raise it.",
                        100 * busy_share, name, label(), 100 * *profile_.foreign_load_max)};
  }
  if (marks.empty()) return {};
  tools_.watcher.warn(fmt::format("{}: the machine was not at rest around {} ({})", label(), name, join(marks, ", ")));
  return {};
}

Result<VoidCause> OneBoot::measure(boot::Booted& engine) {
  const engine::Endpoint& endpoint = engine.facts().endpoint;
  const std::unique_ptr<http::Transport> transport = tools_.transport();
  leg::DecodePlan decode = slot_.plan.options.decode;
  decode.stopped = tools_.stopped;
  const Json plan = to_json(slot_.plan);
  // Decode before anything long: a deep prompt leaves a lane slow for a while.
  BK_ASSIGN(const VoidCause cause, leg(*transport, engine, "decode", plan["decode"], [&](leg::Sink& sink) {
              return leg::run_decode(*transport, endpoint, decode, sink);
            }));
  return cause ? Result<VoidCause>(cause) : gates(*transport, engine);
}

Result<VoidCause> OneBoot::gates(http::Transport& transport, boot::Booted& engine) {
  const engine::Endpoint& endpoint = engine.facts().endpoint;
  const PlanOptions& options = slot_.plan.options;
  if (!options.gate_contexts.empty()) {
    leg::QualityPlan quality;
    quality.contexts = options.gate_contexts;
    if (profile_.max_model_len) quality.context_limit = *profile_.max_model_len;
    quality.stopped = tools_.stopped;
    BK_ASSIGN(const VoidCause cause,
              leg(transport, engine, "check-quality", Json::object().set("contexts", quality.contexts),
                  [&](leg::Sink& sink) -> Status {
                    BK_TRY(leg::run_quality(transport, endpoint, quality, sink));
                    return {};
                  }));
    if (cause) return cause;
  }
  if (options.greedy_tokens == 0) return VoidCause{};
  leg::GreedyPlan greedy;
  greedy.max_tokens = options.greedy_tokens;
  greedy.stopped = tools_.stopped;
  return leg(transport, engine, leg::kGreedyTexts, Json::object().set("max_tokens", greedy.max_tokens),
             [&](leg::Sink& sink) -> Status {
               BK_ASSIGN(const leg::GreedyRun run, leg::ask_greedy(transport, endpoint, greedy, sink));
               return sink.gate(leg::keep_greedy(run));
             });
}

Status OneBoot::end(const std::string& state, const std::string& reason) {
  return tools_.database.end_boot(row_.id, state, reason);
}

Result<VoidCause> OneBoot::run() {
  BK_ASSIGN(const boot::Arm arm, boot::make_arm(profile_, to_string(evidence_.arm), slot_.plan.knobs(evidence_.arm)));
  BK_TRY(begin(arm));
  const auto failed = [this](const Error& error) -> Status {
    BK_TRY(end(error.code == Errc::kInterrupted ? "interrupted" : "failed", error.text()));
    return fail(error);
  };
  auto engine = tools_.launcher.boot(profile_, arm, options_);
  if (!engine) {
    Error error = engine.error();
    // Another model or window than the profile says: the boot failed, as with any other engine that is not the one
    // asked for.
    if (error.code == Errc::kMismatch) error.code = Errc::kEnvironment;
    BK_TRY(failed(error));
  }
  Result<VoidCause> cause = VoidCause{};
  if (const Status recorded = record_facts((*engine)->facts()); !recorded) {
    cause = fail(recorded.error());
  } else {
    cause = check((*engine)->facts());
    tools_.watcher.stage(label());
    if (!*cause) cause = measure(**engine);
  }
  const Status stopped = (*engine)->stop();
  if (!cause) {
    BK_TRY(failed(cause.error()));
  }
  if (*cause) {
    BK_TRY(end("void", cause->sentence));
    return cause;
  }
  if (!stopped) {
    BK_TRY(failed(stopped.error()));
  }
  BK_TRY(end("done", ""));
  tools_.watcher.boot_done(label());
  return cause;
}

}  // namespace bk::bracket
