#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace bk::perf {

struct MeasurePlan {
  std::filesystem::path bin;  ///< holds bk-perf, sim-engine and bench-probe of one build
  bool quick = false;         ///< shorter runs: shows that all of it works, not what it costs
  std::function<void(const std::string&)> progress;
};

/// Every figure by its key, as one flat object of numbers.
[[nodiscard]] Result<Json> measure(const MeasurePlan& plan);

}  // namespace bk::perf
