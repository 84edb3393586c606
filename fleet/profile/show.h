#pragma once
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "boot/arm.h"
#include "boot/profile.h"

namespace bk::profile_tool {

/// {"schema_version", "tool", "version", "commit"}.
[[nodiscard]] Json head();

/// Knobs with bounds, value, who set it, how they reach the engine and are proved; rules; with `resolved` the command
/// and its environment too. Secrets are shown as ***.
[[nodiscard]] std::string shown_text(const boot::Profile& profile, const boot::Arm& arm, const Command& command,
                                     bool resolved);
[[nodiscard]] Json shown_json(const boot::Profile& profile, const boot::Arm& arm, const Command& command,
                              bool resolved);

}  // namespace bk::profile_tool
