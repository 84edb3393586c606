#pragma once
#include <vector>

#include "load/sample.h"
#include "report/format.h"

namespace bk {

/// One row a sample: rates, acceptance in both conventions, step rate.
[[nodiscard]] report::Records sample_records(const std::vector<load::Sample>& samples);
/// One row a concurrency: mean, median, least and greatest of the samples' rates.
[[nodiscard]] report::Records summary_records(const std::vector<load::Sample>& samples);

}  // namespace bk
