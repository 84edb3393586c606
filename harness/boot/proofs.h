#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "boot/arm.h"
#include "boot/launcher.h"
#include "boot/profile.h"
#include "engine/metrics_page.h"

namespace bk::boot {

/// What a running engine shows of itself.
struct Evidence {
  std::string log;                                                ///< all that it has written since its start
  std::optional<engine::MetricsPage> metrics;                     ///< nothing when it has no page
  Environment environ;                                            ///< of the running process
  std::function<Result<Json>(const std::string& path)> get_json;  ///< may be empty
};

/// One proof for every knob that reaches the engine, in the profile's order.
[[nodiscard]] std::vector<Proof> read_proofs(const Profile& profile, const Arm& arm, const Evidence& evidence);

/// Equal as text, or equal as numbers ("5" and "5.0"; not "1" and "true").
[[nodiscard]] bool same_value(const std::string& a, const std::string& b);

}  // namespace bk::boot
