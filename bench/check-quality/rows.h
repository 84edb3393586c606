#pragma once
#include <cstdint>
#include <string>

#include "leg/quality.h"
#include "report/format.h"

namespace bk::check_quality {

/// "2K" for 2048, else the number.
[[nodiscard]] std::string context_name(std::int64_t tokens);

/// For people: what went wrong, one row a context ("o" right, "x" wrong, "?" no answer), "=> 8/9 correct".
[[nodiscard]] std::string to_text(const leg::QualityOutcome& outcome);

/// One row a context; the gate with every question is in `meta`.
[[nodiscard]] report::Records to_records(const leg::QualityOutcome& outcome);

}  // namespace bk::check_quality
