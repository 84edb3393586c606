#include "show.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/version.h"
#include "boot/fingerprint.h"
#include "boot/ssh.h"
#include "report/table.h"

namespace bk::profile_tool {
namespace {

using boot::Knob;
using boot::ProofRule;

std::string bounds(const Knob& knob) {
  if (!knob.values.empty()) return join(knob.values, " ");
  if (knob.min) return fmt::format("{}..{}", *knob.min, *knob.max);
  return knob.under.empty() ? "any" : "below " + knob.under;
}

/// Who gave the value.
const char* origin(const Knob& knob, const boot::Arm& arm) {
  if (arm.set.contains(knob.name)) return "arm";
  return knob.from_caller ? "environment" : "profile";
}

std::string proof_text(const Knob& knob) {
  const auto text = [](const ProofRule& rule) {
    switch (rule.kind) {
      case ProofRule::Kind::kNone:
        return std::string();
      case ProofRule::Kind::kLog:
        return "log: " + rule.text;
      case ProofRule::Kind::kMetric:
        return "metric: " + rule.text;
      case ProofRule::Kind::kEnviron:
        return "environ: " + rule.text;
      case ProofRule::Kind::kJson:
        return "json: " + rule.text;
    }
    return std::string();
  };
  if (knob.proof.kind != ProofRule::Kind::kNone) return text(knob.proof);
  return knob.proof_for.empty() ? "none" : fmt::format("{}, and others by value", text(knob.proof_for.begin()->second));
}

}  // namespace

Json head() {
  return Json::object()
      .set("schema_version", 1)
      .set("tool", "profile")
      .set("version", version())
      .set("commit", commit());
}

std::string shown_text(const boot::Profile& profile, const boot::Arm& arm, const Command& command, bool resolved) {
  std::string text = fmt::format("{}: {}\n", profile.name, profile.help);
  text +=
      fmt::format("serves {} with {} tokens of context, ready within {:g} s\n\n",
                  profile.served_model.empty() ? "whatever it lists" : profile.served_model,
                  profile.max_model_len ? std::to_string(*profile.max_model_len) : "unstated", profile.ready_timeout_s);
  std::vector<std::vector<std::string>> rows;
  for (const Knob& knob : profile.knobs) {
    std::string value = arm.resolved.at(knob.name);
    if (value.empty()) value = "(unset)";
    if (!knob.active(arm.resolved) && !arm.resolved.at(knob.name).empty()) value += " (not passed)";
    rows.push_back({knob.name, value, origin(knob, arm), bounds(knob), resolved ? proof_text(knob) : knob.help});
  }
  using report::Align;
  text += report::table({"knob", "value", "from", "bounds", resolved ? "proof" : "what it is"},
                        std::vector(5, Align::kLeft), rows);
  for (const boot::Relation& rule : profile.relations)
    text += fmt::format("rule {}: {}{}\n", rule.name, rule.text, rule.why.empty() ? "" : "; " + rule.why);
  if (!resolved) return text;
  text += fmt::format("\ncommand: {}\n", boot::shell_quote(boot::redacted_argv(command.argv, {})));
  const Json environment = boot::redacted_environment(command.env, {});
  for (const auto& [name, value] : environment.members())
    text += fmt::format("environment: {}={}\n", name, value.as_string().value_or(""));
  return text;
}

Json shown_json(const boot::Profile& profile, const boot::Arm& arm, const Command& command, bool resolved) {
  Json json = head();
  json.set("profile", profile.name).set("help", profile.help).set("profile_hash", boot::profile_hash(profile));
  Json knobs = Json::array();
  for (const Knob& knob : profile.knobs) {
    const std::string& value = arm.resolved.at(knob.name);
    knobs.push(Json::object()
                   .set("knob", knob.name)
                   .set("value", value.empty() ? Json() : Json(value))
                   .set("from", origin(knob, arm))
                   .set("passed", knob.active(arm.resolved))
                   .set("bounds", bounds(knob))
                   .set("proof", proof_text(knob))
                   .set("help", knob.help));
  }
  json.set("knobs", std::move(knobs));
  Json rules = Json::array();
  for (const boot::Relation& rule : profile.relations)
    rules.push(Json::object().set("name", rule.name).set("rule", rule.text).set("why", rule.why));
  json.set("rules", std::move(rules));
  if (resolved) {
    json.set("command", boot::redacted_argv(command.argv, {}));
    json.set("environment", boot::redacted_environment(command.env, {}));
  }
  return json;
}

}  // namespace bk::profile_tool
