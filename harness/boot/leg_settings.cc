#include "boot/leg_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace bk::boot {

const std::vector<std::string>& gate_names() {
  static const std::vector<std::string> kNames = {"check-quality", "greedy-divergence"};
  return kNames;
}

Result<std::vector<std::string>> parse_gates(std::string_view text, char between) {
  std::vector<std::string> gates;
  for (const std::string_view word : split(text, between)) {
    const std::string name(trim(word));
    if (name.empty()) continue;
    const auto& known = gate_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = nearest(name, known);
      return fail(Errc::kUsage,
                  fmt::format("'{}' is no gate of a bracket{}", name,
                              near ? "; did you mean " + *near + "?" : "; there are " + join(known, ", ")));
    }
    if (std::find(gates.begin(), gates.end(), name) != gates.end()) {
      return fail(Errc::kUsage, fmt::format("{} stands twice", name));
    }
    gates.push_back(name);
  }
  return gates;
}

Status apply_leg_setting(Profile& profile, const std::string& key, const std::string& value) {
  if (key == "GATES") {
    auto gates = parse_gates(value, ' ');
    if (!gates) return fail(Errc::kUsage, "GATES: " + gates.error().what);
    profile.gates = std::move(*gates);
  }
  if (key != "FOREIGN_LOAD_MAX") return {};
  const auto share = parse_double(value);
  if (!share || !(*share >= 0 && *share <= 1)) {
    return fail(Errc::kUsage, fmt::format("FOREIGN_LOAD_MAX is a share of the cores, 0 to 1; not '{}'", value));
  }
  profile.foreign_load_max = *share;
  return {};
}

}  // namespace bk::boot
