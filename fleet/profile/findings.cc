#include "findings.h"

#include <fmt/format.h>

#include "boot/arm.h"
#include "boot/overlay.h"

namespace bk::profile_tool {
namespace {

using boot::ProofRule;

bool is_proved(const boot::Knob& knob) {
  if (knob.proof.kind != ProofRule::Kind::kNone) return true;
  if (knob.values.empty()) return false;
  for (const std::string& value : knob.values) {
    if (!knob.proof_for.contains(value)) return false;
  }
  return true;
}

/// Values that can be listed: each one's command has to be complete.
std::vector<std::string> sample_values(const boot::Knob& knob) {
  if (!knob.values.empty()) return knob.values;
  if (knob.min && knob.whole)
    return {std::to_string(static_cast<std::int64_t>(*knob.min)), std::to_string(static_cast<std::int64_t>(*knob.max))};
  return {};
}

}  // namespace

Findings examine(const boot::Profile& profile, const std::filesystem::path& root_dir,
                 const std::filesystem::path& modules_dir) {
  Findings findings;
  const auto defaults = boot::make_arm(profile, "default", {});
  if (!defaults) {
    findings.faults.push_back(defaults.error().text());
    return findings;
  }
  boot::BootVariables variables;
  variables.port = 1;
  variables.bin_dir = "bin";
  variables.root_dir = root_dir;
  if (const auto command = boot::resolve_command(profile, *defaults, variables); !command)
    findings.faults.push_back(command.error().text());
  for (const boot::Knob& knob : profile.knobs) {
    if (!is_proved(knob))
      findings.warnings.push_back(fmt::format("{} has no proof: a bracket over it is void", knob.name));
    if (knob.help.empty()) findings.warnings.push_back(fmt::format("{} has no help", knob.name));
    for (const std::string& value : sample_values(knob)) {
      boot::Arm arm = *defaults;  // a rule may forbid the value alone: only the command is of interest here
      arm.resolved[knob.name] = value;
      if (const auto command = boot::resolve_command(profile, arm, variables); !command)
        findings.faults.push_back(fmt::format("{}={}: {}", knob.name, value, command.error().text()));
    }
  }
  if (!profile.modules.empty()) {
    if (const auto composed = boot::compose_profile(profile, root_dir, modules_dir); !composed)
      findings.faults.push_back(composed.error().text());
  }
  return findings;
}

}  // namespace bk::profile_tool
