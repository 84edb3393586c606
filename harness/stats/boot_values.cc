#include "stats/boot_values.h"

namespace bk::stats {

const char* to_string(Arm arm) { return arm == Arm::kBase ? "base" : "cand"; }
const char* to_string(Better better) { return better == Better::kHigher ? "higher" : "lower"; }

}  // namespace bk::stats
