#pragma once
#include "engine/acceptance.h"
#include "engine/metrics_page.h"

namespace bk::engine {

/// The counters that a page of vLLM, llama.cpp or SGLang holds, by exact name. Values that are NaN are absent.
/// Copies of one series for each tensor- or pipeline-parallel rank count once.
[[nodiscard]] Counters read_counters(const MetricsPage& page);

}  // namespace bk::engine
