#include "boot/retry.h"

#include <array>

#include "base/text.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

/// What PyTorch's stores, NCCL's watchdog, gloo and vLLM's executor write when one rank waits for another too long.
/// All lower case.
constexpr std::array<std::string_view, 7> kOutOfStep = {"waiting for clients",
                                                        "watchdog caught collective operation timeout",
                                                        "diststoreerror",
                                                        "store based barrier",
                                                        "wait timeout after",
                                                        "socket timeout",
                                                        "timed out waiting for other ranks"};

}  // namespace

std::optional<std::string> retry_reason(const Error& error, std::string_view log) {
  if (error.code != Errc::kEnvironment && error.code != Errc::kTimeout) return {};
  for (const std::string_view line : split_lines(log)) {
    const std::string lower = to_lower(line);
    for (const std::string_view sign : kOutOfStep) {
      if (lower.find(sign) != std::string::npos) return manifest::printable(trim(line));
    }
  }
  return {};
}

}  // namespace bk::boot
