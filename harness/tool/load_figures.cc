#include "tool/load_figures.h"

#include <algorithm>

#include "tool/bench.h"

namespace bk::tool {
namespace {

Spread spread_of(const std::vector<double>& values) {
  return {stats::percentile(values, 0.50), stats::percentile(values, 0.90), stats::percentile(values, 0.99)};
}

}  // namespace

CellFigures load_figures(const load::Sample& sample) {
  CellFigures figures;
  figures.cell = sample.cell;
  figures.concurrency = sample.concurrency;
  figures.requests = sample.requests.size();
  figures.aggregate_tok_s = metric_of(sample, "aggregate_tok_s");
  figures.requests_per_s = metric_of(sample, "requests_per_s");
  figures.goodput_per_s = metric_of(sample, "goodput_per_s");
  figures.good_share = metric_of(sample, "good_share");
  const bool counted = metric_of(sample, "aggregate_tok_s").has_value();
  figures.note = note_of(sample, {counted ? "decode_tok_s" : "aggregate_tok_s"});
  std::vector<double> ttft, latency, tpot;
  std::vector<std::optional<double>> rates;
  for (const stream::RequestRecord& record : sample.requests) {
    if (!record.ok()) {
      ++figures.failed;
      continue;
    }
    if (const auto ms = leg::ttft_from_schedule_ms(record)) ttft.push_back(*ms);
    if (const auto ms = leg::latency_from_schedule_ms(record)) latency.push_back(*ms);
    if (record.tpot_ms.value) tpot.push_back(*record.tpot_ms.value);
    rates.push_back(record.decode_tok_s.value);
    const double queued = to_ms(record.sent - record.scheduled);
    figures.queued_ms_max = std::max(figures.queued_ms_max.value_or(queued), queued);
  }
  figures.ttft_ms = spread_of(ttft);
  figures.latency_ms = spread_of(latency);
  figures.tpot_ms = spread_of(tpot);
  figures.stream_tok_s = stats::summarize(rates).mean;
  return figures;
}

}  // namespace bk::tool
