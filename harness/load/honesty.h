#pragma once
#include <string>
#include <vector>

#include "load/sample.h"

namespace bk::load {

/// Above this share of one core the client's single thread has no room left for the next event.
inline constexpr double kBusyClientShare = 0.8;
/// Ready data that waited longer than this may be told apart from a slow server no more.
inline constexpr Nanos kLateClientDelay = 10 * kMillisecond;

/// Why the client itself could be what limited a sample: "client_cpu", "client_delay"; empty when it was not.
[[nodiscard]] std::vector<std::string> client_marks(const ClientCost& client);

}  // namespace bk::load
