#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "grid_truth.h"

namespace bk::perf {

/// One figure of a program beside the engine's.
struct Compared {
  enum class Kind { kTime, kRate, kCount };  ///< milliseconds, per second, must be equal
  Kind kind = Kind::kTime;
  std::string name;
  std::optional<double> seen, truth;
};

/// The figures in a program's JSON document beside what the engine did; `newest` answers with the engine's last n
/// requests, in the order in which they arrived. kMismatch when the document is not that program's.
using NewestRequests = std::function<Result<std::vector<TrueRequest>>(std::size_t n)>;
[[nodiscard]] Result<std::vector<Compared>> figures_beside_truth(const std::string& program, const Json& document,
                                                                 const NewestRequests& newest);

/// Largest errors over many figures.
struct GridErrors {
  std::size_t figures = 0;  ///< compared
  std::size_t missing = 0;  ///< the program gave none though the engine knows one
  std::size_t wrong = 0;    ///< counts that are not equal, and figures where the engine knows of none
  double time_ms = 0, rate_pct = 0;
  std::string worst_time, worst_rate;  ///< their names
  [[nodiscard]] bool within(double time_limit_ms, double rate_limit_pct) const {
    return missing == 0 && wrong == 0 && time_ms <= time_limit_ms && rate_pct <= rate_limit_pct;
  }
};
[[nodiscard]] GridErrors errors_of(const std::vector<Compared>& figures);

}  // namespace bk::perf
