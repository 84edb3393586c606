#include "content_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stats/summary.h"
#include "tool/bench.h"

namespace bk {
namespace {

using report::Align;
using report::Column;

std::optional<double> cell_median(const std::vector<load::Sample>& samples, const std::string& cell,
                                  const std::string& metric) {
  std::vector<std::optional<double>> values;
  for (const load::Sample& sample : samples) {
    if (!sample.warmup && sample.cell == cell) values.push_back(tool::metric_of(sample, metric));
  }
  return stats::summarize(values).median;
}

/// Accepted of drafted tokens over all samples of a set.
std::optional<double> acceptance_of(const std::vector<load::Sample>& samples, const std::string& cells) {
  double drafted = 0, accepted = 0;
  for (const load::Sample& sample : samples) {
    if (sample.warmup || !sample.cell.starts_with(cells) || !sample.acceptance.value) continue;
    drafted += sample.acceptance.value->draft_tokens;
    accepted += sample.acceptance.value->accepted;
  }
  return drafted > 0 ? std::optional(100 * accepted / drafted) : std::nullopt;
}

}  // namespace

std::optional<double> mixed_rate(const std::vector<std::pair<std::optional<double>, double>>& rates) {
  double weights = 0, time = 0;
  for (const auto& [rate, weight] : rates) {
    if (!rate || *rate <= 0) return std::nullopt;
    weights += weight;
    time += weight / *rate;
  }
  return time > 0 ? std::optional(weights / time) : std::nullopt;
}

report::Records content_records(const std::vector<load::Sample>& samples, const std::vector<load::ContentShare>& mix) {
  report::Records records;
  records.columns = {Column{"concurrency", "C", "", Align::kRight, 6},
                     Column{"content", "content", "", Align::kLeft, 4},
                     Column{"version", "version", "", Align::kRight, 4},
                     Column{"weight", "weight", "", Align::kRight, 3},
                     Column{"short_decode_tok_s", "short", "tok/s", Align::kRight, 4},
                     Column{"long_decode_tok_s", "long", "tok/s", Align::kRight, 4},
                     Column{"decode_tok_s", "both", "tok/s", Align::kRight, 4},
                     Column{"acceptance_raw_pct", "acc raw", "%", Align::kRight, 3},
                     Column{"hash", "hash", "", Align::kLeft, 4}};
  std::set<int> concurrencies;
  for (const load::Sample& sample : samples) concurrencies.insert(sample.concurrency);
  for (const int concurrency : concurrencies) {
    std::vector<std::pair<std::optional<double>, double>> rates;
    double weights = 0;
    for (const load::ContentShare& share : mix) {
      const std::string cells = fmt::format("C={} {} ", concurrency, share.set->name);
      const auto brief = cell_median(samples, cells + "short", "decode_tok_s");
      const auto lengthy = cell_median(samples, cells + "long", "decode_tok_s");
      // Prompts that people bring along have long answers only.
      const bool only_long = std::all_of(share.set->prompts.begin(), share.set->prompts.end(),
                                         [](const load::ContentPrompt& prompt) { return prompt.long_answer; });
      const auto both = only_long ? lengthy : mixed_rate({{brief, 1}, {lengthy, 1}});
      rates.emplace_back(both, share.weight);
      weights += share.weight;
      records.rows.push_back({concurrency, share.set->name, share.set->version, share.weight, brief, lengthy, both,
                              acceptance_of(samples, cells), share.set->hash().substr(0, 12)});
    }
    records.rows.push_back({concurrency, "total", Json(), weights, Json(), Json(), mixed_rate(rates), Json(), Json()});
  }
  return records;
}

}  // namespace bk
