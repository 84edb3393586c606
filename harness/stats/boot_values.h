#pragma once
#include <optional>
#include <vector>

namespace bk::stats {

enum class Arm { kBase, kCand };
const char* to_string(Arm arm);

/// Which way a metric improves.
enum class Better { kHigher, kLower };
const char* to_string(Better better);

/// One sample of one metric. `acceptance` is raw draft acceptance (accepted / drafted, 0..1) where it was read.
struct SampleValue {
  double value = 0;
  std::optional<double> acceptance;
  std::optional<double> k_eff = {};  ///< drafted tokens per draft; the legacy convention needs it
};

/// One boot's samples of one metric. The boot is the unit of evidence; `order` is its place in time (0, 1, 2 …).
struct BootValues {
  Arm arm = Arm::kBase;
  double order = 0;
  std::vector<SampleValue> samples;
  int variant = {};  ///< in a family of arms: 0 the base, 1 … the others
};

}  // namespace bk::stats
