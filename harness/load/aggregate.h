#pragma once
#include "load/sample.h"

namespace bk::load {

/// Fills sample->metrics from its requests, acceptance and times; each is a value or a reason:
///   decode_tok_s   median over requests of decode_tok_s
///   tpot_ms        median over requests of tpot_ms
///   ttft_ms        median over requests of ttft
///   ttfr_ms        median over requests of ttfr
///   prefill_tok_s  median over requests of prefill_tok_s
///   e2e_tok_s      median over requests of e2e_tok_s
///   round_tok_s    tokens of all requests / (last end - first sent)
///   step_s         decode steps per second, decode_tok_s / (1 + k_eff * raw); concurrency 1 only
/// A sample with a failed request has no figures: every reason is "request_failed". Source: DESIGN 4.
void fill_metrics(Sample* sample);

/// The median; mean of the middle two for an even number. Nothing for none.
[[nodiscard]] std::optional<double> median(std::vector<double> values);

/// Most requests under way at one time; those that were never sent or never ended do not count.
[[nodiscard]] int most_at_once(const std::vector<stream::RequestRecord>& requests);

}  // namespace bk::load
