#pragma once
#include <cstdint>
#include <string>

#include "leg/sink.h"
#include "load/sample.h"

namespace bk::leg {

/// Notes the metric cached_tokens of a sample's first request and warns of a prompt that came partly from the server's
/// prefix cache. True when it did.
bool note_cached(load::Sample* sample, Sink& sink);
/// Takes a warm sample's figures back: a prefill that was not computed has no TTFT to compare. cached_tokens stays;
/// every other metric becomes nothing with the reason "warm_prefix_cache".
void refuse_warm(load::Sample* sample);

/// "2K" for 2048, "2000" for 2000.
[[nodiscard]] std::string tokens_label(std::int64_t tokens);

}  // namespace bk::leg
