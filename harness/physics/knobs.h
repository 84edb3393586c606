#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "physics/params.h"

namespace bk::physics {

/// One knob of the simulated engine.
struct Knob {
  std::string name;
  std::string default_value;
  std::string help;  ///< values and effect, one line
};

/// Every knob, in the order in which proofs are printed.
[[nodiscard]] const std::vector<Knob>& knobs();

/// The parameters of a profile with knobs set, and the seed where SEED sets one.
struct Configured {
  Params params;
  std::map<std::string, std::string> values;  ///< every knob's effective value, defaults included
};

/// Applies knob values to a profile. kUsage for an unknown name (with a suggestion) or a value out of range.
/// Effects are those that the ledger measured; knobs.cc names each source.
[[nodiscard]] Result<Configured> configure(const std::string& profile_name,
                                           const std::map<std::string, std::string>& values);

}  // namespace bk::physics
