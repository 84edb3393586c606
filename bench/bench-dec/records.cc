#include "records.h"

#include <set>

#include "stats/summary.h"
#include "tool/bench.h"

namespace bk {
namespace {

using report::Align;
using report::Column;

Json tokens_of(const load::Sample& sample) {
  std::int64_t total = 0;
  for (const auto& request : sample.requests) {
    if (!request.completion_tokens) return {};
    total += *request.completion_tokens;
  }
  return total;
}

/// "code long" of the cell "C=1 code long"; nothing for the historical topics.
Json content_of(const load::Sample& sample) {
  const std::size_t blank = sample.cell.find(' ');
  return blank == std::string::npos ? Json() : Json(sample.cell.substr(blank + 1));
}

Json percent_of(const std::optional<double>& fraction) { return fraction ? Json(100 * *fraction) : Json(); }

}  // namespace

report::Records sample_records(const std::vector<load::Sample>& samples) {
  report::Records records;
  records.columns = {Column{"concurrency", "C", "", Align::kRight, 6},
                     Column{"content", "content", "", Align::kLeft, 4},
                     Column{"rep", "rep", "", Align::kRight, 6},
                     Column{"completion_tokens", "tokens", "", Align::kRight, 9},
                     Column{"seconds", "time", "s", Align::kRight, 4},
                     Column{"decode_tok_s", "decode", "tok/s", Align::kRight, 4},
                     Column{"round_tok_s", "round", "tok/s", Align::kRight, 4},
                     Column{"ttft_ms", "TTFT", "ms", Align::kRight, 4},
                     Column{"acceptance_raw_pct", "acc raw", "%", Align::kRight, 3},
                     Column{"acceptance_legacy_pct", "acc legacy", "%", Align::kRight, 3},
                     Column{"tokens_per_step", "tok/step", "", Align::kRight, 3},
                     Column{"k_eff", "k", "", Align::kRight, 3},
                     Column{"step_s", "step/s", "", Align::kRight, 4},
                     Column{"window_step_s", "counted", "step/s", Align::kRight, 4},
                     Column{"windows", "windows", "", Align::kRight, 6},
                     Column{"note", "", "", Align::kLeft, 4}};
  for (const load::Sample& sample : samples) {
    if (sample.warmup) continue;
    const auto& acceptance = sample.acceptance.value;
    std::string note = tool::note_of(sample, {"decode_tok_s"});
    if (note.empty() && !acceptance) note = sample.acceptance.reason;
    records.rows.push_back({sample.concurrency, content_of(sample), sample.index + 1, tokens_of(sample),
                            to_s(sample.ended - sample.started), tool::metric_of(sample, "decode_tok_s"),
                            tool::metric_of(sample, "round_tok_s"), tool::metric_of(sample, "ttft_ms"),
                            percent_of(acceptance ? std::optional(acceptance->raw) : std::nullopt),
                            percent_of(acceptance ? std::optional(acceptance->legacy) : std::nullopt),
                            acceptance ? Json(acceptance->tokens_per_step) : Json(),
                            acceptance ? Json(acceptance->k_eff) : Json(), tool::metric_of(sample, "step_s"),
                            tool::metric_of(sample, "window_step_s"), sample.step_windows.size(),
                            note.empty() ? Json() : Json(note)});
  }
  return records;
}

report::Records summary_records(const std::vector<load::Sample>& samples) {
  report::Records records;
  records.columns = {Column{"concurrency", "C", "", Align::kRight, 6}, Column{"metric", "", "", Align::kLeft, 4},
                     Column{"n", "n", "", Align::kRight, 6},           Column{"mean", "mean", "", Align::kRight, 4},
                     Column{"median", "median", "", Align::kRight, 4}, Column{"min", "min", "", Align::kRight, 4},
                     Column{"max", "max", "", Align::kRight, 4}};
  std::set<int> concurrencies;
  for (const load::Sample& sample : samples) concurrencies.insert(sample.concurrency);
  for (const int concurrency : concurrencies) {
    for (const char* name : {"decode_tok_s", "round_tok_s"}) {
      std::vector<std::optional<double>> values;
      for (const load::Sample& sample : samples) {
        if (!sample.warmup && sample.concurrency == concurrency) values.push_back(tool::metric_of(sample, name));
      }
      const stats::Summary summary = stats::summarize(values);
      records.rows.push_back({concurrency, name, summary.n, summary.mean, summary.median, summary.min, summary.max});
    }
  }
  return records;
}

}  // namespace bk
