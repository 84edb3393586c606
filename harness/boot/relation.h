#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "boot/profile.h"

namespace bk::boot {

/// Reads "LOOKUP >= 24 * CHUNK" or "FP8HEAD = 0 or V2RUNNER = 1": clauses joined by `or`, each a comparison (= != < <=
/// > >=) of two sums of products of numbers and knobs; a lower-case word is text and stands alone beside = or !=.
/// kUsage saying what is wrong; the caller adds the place.
[[nodiscard]] Result<Relation> parse_relation(const std::string& name, std::string_view text);

/// The knobs that it names, each once.
[[nodiscard]] std::vector<std::string> knobs_of(const Relation& relation);

/// kUsage naming the relation, the values that break it and the reason why it must hold. A clause about a knob that
/// `passed` lacks (not set, or not active) holds: the engine's own default applies there.
[[nodiscard]] Status check_relation(const Relation& relation, const KnobMap& passed);

}  // namespace bk::boot
