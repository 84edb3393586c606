#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording.h"

namespace bk::trace {

/// Where the main stream (the one with the largest summed duration) waits.
struct Gaps {
  std::string main_stream;  ///< "device:stream"
  std::uint64_t count = 0;  ///< stretches longer than 0.05 us in which no kernel runs on it
  double sum_us = 0;
  struct ByPair {
    std::string previous, next;  ///< short names
    std::uint64_t count = 0;
    double sum_us = 0;
  };
  std::vector<ByPair> pairs;  ///< largest sum first, 12 at most
  struct ByKernel {
    std::string name;
    std::uint64_t count = 0;
    double sum_us = 0, median_us = 0, p99_us = 0, max_us = 0, max_over_median = 0;  ///< p99: nearest rank
  };
  std::vector<ByKernel> kernels;  ///< of all streams, largest sum first, 12 at most
  struct Largest {
    std::string previous, next;
    std::int64_t begin_ns = 0;  ///< trace time
    double us = 0;
    double filled_pct = 0;            ///< kernels of other streams inside it, summed: above 100 they overlap each other
    std::vector<std::string> others;  ///< names with the most time inside it, 5 at most
  };
  std::vector<Largest> largest;  ///< longest first
};

/// `largest`: how many of the largest gaps are looked into.
[[nodiscard]] Gaps find_gaps(const Recording& recording, std::size_t largest);

/// A name without template and function arguments and without "void ": "void at::native::f<int>(x)" is "at::native::f".
[[nodiscard]] std::string short_name(std::string_view name);

}  // namespace bk::trace
