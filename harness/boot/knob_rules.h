#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "boot/profile.h"

namespace bk::boot {

/// Applies one `KNOB.<attribute>=value` line. The error's text says what is wrong; the caller adds the place.
[[nodiscard]] Status apply_attribute(Knob& knob, const std::string& attribute, const std::string& value);

/// Whether a finished knob can be set, reach the engine and be proved, as far as it alone can tell.
[[nodiscard]] Status check_knob(const Knob& knob);

/// "log: PATTERN" and its kin. `one_value` when it proves a single value, so that {VALUE} may be missing.
[[nodiscard]] Result<ProofRule> parse_proof(std::string_view text, bool one_value);

}  // namespace bk::boot
