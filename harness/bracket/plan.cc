#include "bracket/plan.h"

#include <algorithm>
#include <charconv>

#include "base/sha256.h"
#include "base/text.h"
#include "bracket/stored_plan.h"
#include "stats/sequential.h"

namespace bk::bracket {
namespace {

constexpr int kPlanVersion = 1;

Json decode_json(const leg::DecodePlan& d) {
  Json concurrency = Json::array();
  for (const int c : d.concurrency) concurrency.push(c);
  Json j = Json::object();
  j.set("concurrency", std::move(concurrency)).set("reps", d.reps).set("warmup", d.warmup);
  j.set("max_tokens", d.max_tokens).set("temperature", d.temperature).set("ignore_eos", d.ignore_eos);
  j.set("request_timeout_s", to_s(d.request_timeout));
  return j;
}

/// Members of an object, with the first one that is missing or of the wrong kind remembered.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}
  std::string text(const char* key) { return take(key, json_[key].as_string()); }
  double number(const char* key) { return take(key, json_[key].as_double()); }
  int whole(const char* key) { return static_cast<int>(take(key, json_[key].as_int())); }
  bool truth(const char* key) { return take(key, json_[key].as_bool()); }
  boot::KnobMap knobs(const char* key) { return knobs_of(json_[key]); }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  template <class T>
  T take(const char* key, std::optional<T> value) {
    if (!value && missing_.empty()) missing_ = key;
    return value.value_or(T{});
  }
  const Json& json_;
  std::string missing_;
};

leg::DecodePlan decode_from(const Json& json, std::uint64_t seed, std::string& missing) {
  Reader in(json);
  leg::DecodePlan d;
  d.concurrency.clear();
  for (const Json& c : json["concurrency"].items()) d.concurrency.push_back(static_cast<int>(c.as_int().value_or(1)));
  d.reps = in.whole("reps");
  d.warmup = in.whole("warmup");
  d.max_tokens = in.whole("max_tokens");
  d.temperature = in.number("temperature");
  d.ignore_eos = in.truth("ignore_eos");
  d.request_timeout = from_s(in.number("request_timeout_s"));
  d.seed = seed;
  if (missing.empty()) missing = in.missing();
  return d;
}

/// The first line that only one of two texts has, for each of them.
std::string first_difference(const std::string& before, const std::string& after) {
  const auto old_lines = split_lines(before), new_lines = split_lines(after);
  const auto only_in = [](const auto& lines, const auto& others) {
    for (const auto line : lines) {
      if (std::find(others.begin(), others.end(), line) == others.end()) return std::string(line);
    }
    return std::string();
  };
  const std::string was = only_in(old_lines, new_lines), is = only_in(new_lines, old_lines);
  if (was.empty()) return "\"" + is + "\" is new";
  if (is.empty()) return "\"" + was + "\" is gone";
  return "\"" + was + "\" is now \"" + is + "\"";
}

/// Everything but the judged knob and the order.
Result<Plan> common_plan(const boot::Profile& profile, const boot::Arm& base, const boot::Arm& cand,
                         const PlanOptions& options) {
  const auto& concurrency = options.decode.concurrency;
  if (std::find(concurrency.begin(), concurrency.end(), 1) == concurrency.end()) {
    return fail(Errc::kUsage, "a bracket is judged at C = 1: add 1 to the concurrencies", "--conc");
  }
  Plan plan;
  plan.profile = profile.name;
  plan.profile_hash = boot::profile_hash(profile);
  plan.profile_text = boot::canonical_text(profile);
  plan.base = base.set;
  plan.cand = cand.set;
  plan.base_hash = boot::arm_hash(profile, base);
  plan.cand_hash = boot::arm_hash(profile, cand);
  plan.options = options;
  plan.options.decode.seed = options.seed;
  plan.options.decode.stopped = nullptr;
  return plan;
}

}  // namespace

std::string Plan::axis() const {
  if (const auto whole = family["axis"].as_string()) return *whole;
  if (is_baseline()) return "baseline";
  std::vector<std::string> changed;
  for (const KnobChange& c : changes())
    changed.push_back(fmt::format("{} {} -> {}", c.knob, c.base_value, c.cand_value));
  return changed.empty() ? "no difference" : join(changed, ", ");
}

std::vector<KnobChange> Plan::changes() const {
  std::vector<KnobChange> out;
  for (const auto& [name, value] : base) {
    const auto other = cand.find(name);
    if (other != cand.end() && other->second != value) out.push_back({name, value, other->second});
  }
  return out;
}

bool Plan::is_baseline() const { return std::find(order.begin(), order.end(), stats::Arm::kCand) == order.end(); }

stats::Rules Plan::rules() const {
  stats::Rules rules;
  rules.better = better;
  rules.alpha = options.alpha;
  rules.band = options.band;
  return rules;
}

stats::Rules Plan::rules_at(std::size_t boots) const {
  stats::Rules at = rules();
  if (options.looks.empty()) return at;
  const auto alphas = stats::look_alphas(order, options.looks, at.drift, at.alpha);
  for (std::size_t i = 0; alphas && i < alphas->size(); ++i) {
    if (i == 0 || static_cast<std::size_t>(options.looks[i]) <= boots) at.alpha = (*alphas)[i];
  }
  return at;
}

Result<std::vector<int>> looks_between(int first, int most) {
  constexpr int kFewest = 4;  // arm, drift and level take three
  if (first < kFewest) return fail(Errc::kUsage, "the first look needs 4 boots or more", "--boots");
  if (most <= first) return fail(Errc::kUsage, "more boots are needed than at the first look", "--max-boots");
  std::vector<int> looks;
  for (int boots = first; boots < most; boots += 2) looks.push_back(boots);
  looks.push_back(most);
  return looks;
}

std::vector<stats::Arm> boot_order(int boots) {
  std::vector<stats::Arm> order;
  order.reserve(static_cast<std::size_t>(boots));
  for (int i = 0; i < boots; ++i) order.push_back(i % 2 == 0 ? stats::Arm::kBase : stats::Arm::kCand);
  return order;
}

Result<Plan> make_plan(const boot::Profile& profile, const boot::KnobMap& base, const boot::KnobMap& cand,
                       const PlanOptions& options) {
  if (options.boots < 2) return fail(Errc::kUsage, "a bracket needs at least 2 boots", "--boots");
  BK_ASSIGN(const boot::Arm base_arm, boot::make_arm(profile, "base", base));
  BK_ASSIGN(const boot::Arm cand_arm, boot::make_arm(profile, "cand", cand));
  BK_ASSIGN(Plan plan, common_plan(profile, base_arm, cand_arm, options));
  BK_ASSIGN(plan.knob, boot::differing_knob(base_arm, cand_arm));
  plan.base_value = base_arm.resolved.at(plan.knob);
  plan.cand_value = cand_arm.resolved.at(plan.knob);
  plan.order = boot_order(options.boots);
  return plan;
}

Result<Plan> make_combined_plan(const boot::Profile& profile, const boot::KnobMap& base, const boot::KnobMap& cand,
                                const PlanOptions& options) {
  BK_ASSIGN(const boot::Arm base_arm, boot::make_arm(profile, "base", base));
  BK_ASSIGN(const boot::Arm cand_arm, boot::make_arm(profile, boot::format_knobs(cand), cand));
  BK_ASSIGN(Plan plan, common_plan(profile, base_arm, cand_arm, options));
  std::vector<std::string> knobs, base_values, cand_values;
  for (const KnobChange& c : plan.changes()) {
    knobs.push_back(c.knob);
    base_values.push_back(c.base_value);
    cand_values.push_back(c.cand_value);
  }
  plan.knob = join(knobs, ",");
  plan.base_value = join(base_values, ",");
  plan.cand_value = join(cand_values, ",");
  return plan;
}

Result<Plan> make_same_plan(const boot::Profile& profile, const boot::KnobMap& knobs,
                            const std::vector<stats::Arm>& order, const PlanOptions& options) {
  BK_ASSIGN(const boot::Arm arm, boot::make_arm(profile, "base", knobs));
  BK_ASSIGN(Plan plan, common_plan(profile, arm, arm, options));
  plan.order = order;
  plan.options.boots = static_cast<int>(order.size());
  return plan;
}

Json to_json(const Plan& plan) {
  Json order = Json::array(), contexts = Json::array();
  for (const stats::Arm arm : plan.order) order.push(to_string(arm));
  for (const std::int64_t context : plan.options.gate_contexts) contexts.push(context);
  Json j = Json::object();
  j.set("plan_version", kPlanVersion).set("profile", plan.profile).set("profile_hash", plan.profile_hash);
  j.set("base", knobs_json(plan.base)).set("cand", knobs_json(plan.cand));
  j.set("base_hash", plan.base_hash).set("cand_hash", plan.cand_hash);
  j.set("knob", plan.knob).set("base_value", plan.base_value).set("cand_value", plan.cand_value);
  j.set("primary_metric", plan.metric).set("primary_cell", plan.cell).set("better", to_string(plan.better));
  j.set("order", std::move(order)).set("decode", decode_json(plan.options.decode));
  j.set("gate_contexts", std::move(contexts)).set("alpha", plan.options.alpha).set("band", plan.options.band);
  if (plan.options.greedy_tokens > 0) j.set("greedy_tokens", plan.options.greedy_tokens);
  if (!plan.options.looks.empty()) {
    Json looks = Json::array();
    for (const int boots : plan.options.looks) looks.push(boots);
    j.set("looks", std::move(looks));
  }
  // As text: a seed may use all 64 bits, and JSON numbers do not.
  j.set("seed", fmt::format("{}", plan.options.seed)).set("profile_text", plan.profile_text);
  if (!plan.family.is_null()) j.set("family", plan.family);
  return j;
}

Result<Plan> plan_from_json(const Json& json) {
  Reader in(json);
  if (in.whole("plan_version") != kPlanVersion) {
    return fail(Errc::kParse, "the stored plan has a version that this program does not know", "plan_version");
  }
  Plan plan;
  plan.profile = in.text("profile");
  plan.profile_hash = in.text("profile_hash");
  plan.profile_text = in.text("profile_text");
  plan.base = in.knobs("base");
  plan.cand = in.knobs("cand");
  plan.base_hash = in.text("base_hash");
  plan.cand_hash = in.text("cand_hash");
  plan.knob = in.text("knob");
  plan.base_value = in.text("base_value");
  plan.cand_value = in.text("cand_value");
  plan.metric = in.text("primary_metric");
  plan.cell = in.text("primary_cell");
  plan.better = in.text("better") == "lower" ? stats::Better::kLower : stats::Better::kHigher;
  for (const Json& arm : json["order"].items()) {
    plan.order.push_back(arm.as_string() == "cand" ? stats::Arm::kCand : stats::Arm::kBase);
  }
  for (const Json& boots : json["looks"].items()) {
    plan.options.looks.push_back(static_cast<int>(boots.as_int().value_or(0)));
  }
  plan.options.boots = static_cast<int>(plan.order.size());
  plan.options.greedy_tokens = static_cast<int>(json["greedy_tokens"].as_int().value_or(0));
  plan.options.alpha = in.number("alpha");
  plan.options.band = in.number("band");
  const std::string seed = in.text("seed");
  if (std::from_chars(seed.data(), seed.data() + seed.size(), plan.options.seed).ec != std::errc()) {
    return fail(Errc::kParse, "the stored plan's seed is no number", "seed");
  }
  plan.options.gate_contexts.clear();
  for (const Json& c : json["gate_contexts"].items()) plan.options.gate_contexts.push_back(c.as_int().value_or(0));
  plan.family = json["family"];
  std::string missing = in.missing();
  plan.options.decode = decode_from(json["decode"], plan.options.seed, missing);
  if (missing.empty() && plan.order.empty()) missing = "order";
  if (!missing.empty()) return fail(Errc::kParse, "the stored plan lacks a member", missing);
  return plan;
}

std::string config_hash(const Plan& plan) { return sha256_hex(to_json(plan).dump()); }

std::string what_changed(const Plan& stored, const boot::Profile& now) {
  if (boot::profile_hash(now) != stored.profile_hash) {
    return fmt::format("profile {}: {}", stored.profile,
                       first_difference(stored.profile_text, boot::canonical_text(now)));
  }
  const auto current = stored.knob.empty() ? make_same_plan(now, stored.base, stored.order, stored.options)
                                           : make_plan(now, stored.base, stored.cand, stored.options);
  if (!current) return current.error().text();
  if (current->base_hash != stored.base_hash) return "the base arm's knobs";
  if (current->cand_hash != stored.cand_hash) return "the candidate's knobs";
  return {};
}

std::int64_t tokens_per_boot(const Plan& plan) {
  const leg::DecodePlan& d = plan.options.decode;
  std::int64_t tokens = 0;
  for (const int c : d.concurrency) tokens += std::int64_t{1} * c * (d.reps + d.warmup) * d.max_tokens;
  return tokens;
}

}  // namespace bk::bracket
