#include "bracket/gates.h"

#include <algorithm>

#include "bracket/boot_rows.h"
#include "bracket/greedy.h"
#include "bracket/store_sink.h"
#include "bracket/stored_plan.h"
#include "engine/models.h"
#include "leg/greedy.h"
#include "leg/korean.h"
#include "leg/needle_256k.h"
#include "leg/quality.h"
#include "store/gate_history.h"

namespace bk::bracket {
namespace {

/// One boot, from its first row to its last.
class GatesBoot {
 public:
  GatesBoot(const Tools& tools, const boot::Profile& profile, const GatesPlan& plan, store::RowId run)
      : tools_(tools), profile_(profile), plan_(plan), run_(run) {}

  Result<GatesOutcome> run() {
    BK_ASSIGN(const boot::Arm arm, boot::make_arm(profile_, "base", plan_.knobs));
    BK_TRY(begin(arm));
    auto engine = tools_.launcher.boot(profile_, arm, options_);
    if (!engine) return ended(fail(engine.error()));
    Status done = measure(**engine);
    const Status stopped = (*engine)->stop();
    if (done && !stopped) done = fail(stopped.error());
    if (!done) return ended(std::move(done));
    BK_TRY(tools_.database.end_boot(row_.id, "done"));
    return std::move(outcome_);
  }

 private:
  Status begin(const boot::Arm& arm) {
    row_.uid = store::new_uid();
    outcome_.boot_uid = row_.uid;
    options_.seed = plan_.boot_seed;
    options_.bin_dir = tools_.bin_dir;
    options_.api_key = tools_.api_key;
    options_.interrupted = tools_.stopped;
    options_.log_file = tools_.log_dir / ("gate-" + store::short_uid(row_.uid) + ".log");
    tools_.watcher.stage("booting " + profile_.name);
    BK_ASSIGN(row_.host_id, tools_.database.add_host(store::this_host()));
    row_.arm = "base";
    row_.profile = profile_.name;
    row_.profile_hash = boot::profile_hash(profile_);
    row_.knobs_json = knobs_json(arm.resolved).dump();
    row_.log_path = options_.log_file.string();
    row_.started_wall = wall_now();
    BK_ASSIGN(row_.id, tools_.database.begin_boot(row_));
    return {};
  }

  Result<GatesOutcome> ended(Status done) {
    const Error& error = done.error();
    const char* state = error.code == Errc::kInterrupted ? "interrupted"
                        : error.code == Errc::kVoid      ? "void"
                                                         : "failed";
    BK_TRY(tools_.database.end_boot(row_.id, state, error.text()));
    return fail(error);
  }

  Status measure(boot::Booted& engine) {
    const boot::BootFacts& facts = engine.facts();
    BK_TRY(store_facts(tools_.database, profile_, facts, row_));
    outcome_.model = row_.model;
    outcome_.engine_version = row_.engine_version;
    outcome_.boot_s = facts.boot_s;
    BK_TRY(check(facts.proofs));
    transport_ = tools_.transport();
    std::optional<std::int64_t> window;
    if (profile_.max_model_len) window = *profile_.max_model_len;
    if (!window) {
      engine::Endpoint endpoint = facts.endpoint;
      BK_ASSIGN(const engine::ServedModel model, engine::resolve_model(*transport_, endpoint));
      window = model.context_tokens;
    }
    if (window) plan_ = fitted(std::move(plan_), *window, outcome_.notes);
    BK_TRY(quality(engine, window));
    BK_TRY(needle(engine, window));
    BK_TRY(korean(engine));
    return greedy(engine);
  }

  Status check(const std::vector<boot::Proof>& proofs) {
    for (const boot::Proof& proof : proofs) {
      if (proof.ok) continue;
      const std::string said = proof.confirmed.value_or("nothing");
      if (proof.reason == "value_differs") {
        return fail(Errc::kVoid,
                    fmt::format("{} was asked to be {}; the engine says {}", proof.knob, proof.asked, said),
                    row_.log_path);
      }
      outcome_.notes.push_back(
          fmt::format("nothing shows that {}={} took effect ({})", proof.knob, proof.asked, proof.reason));
    }
    return {};
  }

  /// Runs one gate as a leg of its own. `body` gives the result that it handed to the sink, and whether it counts.
  Status leg(boot::Booted& engine, const std::string& name, const Json& plan,
             const std::function<Result<GateRun>(leg::Sink&)>& body) {
    store::LegRow row;
    row.run_id = run_;
    row.boot_id = row_.id;
    row.name = name;
    row.plan_json = plan.dump();
    row.endpoint = row_.endpoint;
    row.model = row_.model;
    row.started_wall = wall_now();
    BK_ASSIGN(const store::RowId id, tools_.database.begin_leg(row));
    StoreSink sink(tools_.database, id, tools_.watcher);
    const Nanos start = monotonic_now();
    Result<GateRun> ran = body(sink);
    const auto failed = [](const stream::RequestRecord& request) { return !request.ok(); };
    const bool some_failed = !ran || std::any_of(ran->result.requests.begin(), ran->result.requests.end(), failed);
    if (const Status alive = some_failed ? alive_after_failure(engine) : engine.alive(); !alive) {
      ran = fail(Errc::kEnvironment, alive.error().what, alive.error().where);
    }
    if (!ran) {
      const bool stopped = ran.error().code == Errc::kInterrupted;
      BK_TRY(tools_.database.end_leg(id, stopped ? "interrupted" : "failed", ran.error().text()));
      return fail(ran.error());
    }
    BK_TRY(tools_.database.end_leg(id, "done"));
    ran->seconds = to_s(monotonic_now() - start);
    outcome_.gates.push_back(std::move(*ran));
    return {};
  }

  Status quality(boot::Booted& engine, std::optional<std::int64_t> window) {
    leg::QualityPlan plan;
    plan.contexts = plan_.contexts;
    plan.seed = plan_.seed;
    plan.context_limit = window;
    plan.stopped = tools_.stopped;
    return leg(engine, "check-quality", Json::object().set("contexts", plan.contexts),
               [&](leg::Sink& sink) -> Result<GateRun> {
                 BK_ASSIGN(leg::QualityOutcome outcome,
                           leg::run_quality(*transport_, engine.facts().endpoint, plan, sink));
                 return GateRun{std::move(outcome.gate)};
               });
  }

  Status needle(boot::Booted& engine, std::optional<std::int64_t> window) {
    leg::NeedlePlan plan;
    plan.context_tokens = plan_.needle_context;
    plan.seed = plan_.seed;
    plan.context_limit = window;
    plan.stopped = tools_.stopped;
    return leg(engine, "needle-256k", Json::object().set("context_tokens", plan.context_tokens),
               [&](leg::Sink& sink) -> Result<GateRun> {
                 BK_ASSIGN(leg::NeedleOutcome outcome,
                           leg::run_needle_256k(*transport_, engine.facts().endpoint, plan, sink));
                 return GateRun{std::move(outcome.gate)};
               });
  }

  Status korean(boot::Booted& engine) {
    leg::KoreanPlan plan;
    plan.rounds = plan_.korean_rounds;
    plan.stopped = tools_.stopped;
    return leg(engine, "korean-corruption", Json::object().set("rounds", plan.rounds),
               [&](leg::Sink& sink) -> Result<GateRun> {
                 BK_ASSIGN(leg::KoreanOutcome outcome,
                           leg::run_korean(*transport_, engine.facts().endpoint, plan, sink));
                 return GateRun{std::move(outcome.gate)};
               });
  }

  Status greedy(boot::Booted& engine) {
    BK_ASSIGN(const auto gates,
              store::earlier_gates(tools_.database, {leg::kGreedyDivergence, row_.profile, row_.profile_hash,
                                                     row_.knobs_json, row_.model, row_.engine_version}));
    const std::vector<leg::GreedyText> earlier = whole_texts(gates);
    leg::GreedyPlan plan;
    plan.max_tokens = plan_.greedy_tokens;
    plan.stopped = tools_.stopped;
    return leg(engine, leg::kGreedyDivergence, Json::object().set("earlier_boots", earlier.size()),
               [&](leg::Sink& sink) -> Result<GateRun> {
                 BK_ASSIGN(const leg::GreedyRun run, leg::ask_greedy(*transport_, engine.facts().endpoint, plan, sink));
                 GateRun gate{leg::judge_greedy(run, earlier)};
                 gate.counts = earlier.size() >= leg::kGreedyYardstick || gate.result.passed < gate.result.asked;
                 BK_TRY(sink.gate(gate.result));
                 return gate;
               });
  }

  const Tools& tools_;
  const boot::Profile& profile_;
  GatesPlan plan_;
  store::RowId run_;
  store::BootRow row_;
  boot::LaunchOptions options_;
  std::unique_ptr<http::Transport> transport_;
  GatesOutcome outcome_;
};

}  // namespace

GatesPlan fitted(GatesPlan plan, std::int64_t window, std::vector<std::string>& notes) {
  std::vector<std::int64_t> kept;
  for (const std::int64_t context : plan.contexts) {
    if (context <= window) {
      kept.push_back(context);
      continue;
    }
    notes.push_back(fmt::format("check-quality at {} tokens was not asked: the window holds {}", context, window));
  }
  if (kept.empty()) kept.push_back(window);
  plan.contexts = std::move(kept);
  if (plan.needle_context > window) {
    notes.push_back(fmt::format("needle-256k was asked in {} tokens, all that the window holds", window));
    plan.needle_context = window;
  }
  return plan;
}

leg::GateVerdict GatesOutcome::verdict() const {
  leg::GateVerdict verdict = leg::GateVerdict::kPass;
  for (const GateRun& gate : gates) {
    if (gate.result.verdict == leg::GateVerdict::kFail) return leg::GateVerdict::kFail;
    if (gate.result.verdict == leg::GateVerdict::kNoAnswer && gate.counts) verdict = leg::GateVerdict::kNoAnswer;
  }
  return gates.empty() ? leg::GateVerdict::kNoAnswer : verdict;
}

bool GatesOutcome::nothing_answered() const {
  for (const GateRun& gate : gates) {
    for (const stream::RequestRecord& request : gate.result.requests) {
      if (request.ok()) return false;
    }
  }
  return true;
}

Result<GatesOutcome> run_gates(const Tools& tools, const boot::Profile& profile, const GatesPlan& plan,
                               store::RowId run) {
  return GatesBoot(tools, profile, plan, run).run();
}

}  // namespace bk::bracket
