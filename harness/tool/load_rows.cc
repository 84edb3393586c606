#include "tool/load_rows.h"

#include "report/number.h"

namespace bk::tool {
namespace {

using report::Align;
using report::Column;
using report::Records;

bool for_people(report::Format format) {
  return format == report::Format::kTable || format == report::Format::kMarkdown;
}

Json shown(const stats::Percentile& p) {
  if (!p.value) return {};
  return report::number(p.value, 4) + (p.thin_tail ? "*" : "");
}

void add_percentile(const std::string& name, const stats::Percentile& p, bool with_column, Records* records,
                    std::vector<Json>* row) {
  if (with_column) {
    records->columns.push_back({name, "", "", Align::kRight, 4});
    records->columns.push_back({name + "_thin_tail", "", "", Align::kLeft, 4});
  }
  row->emplace_back(p.value);
  row->emplace_back(p.value ? Json(p.thin_tail) : Json());
}

std::vector<Json> people_row(const CellFigures& c) {
  return {c.cell,
          c.requests,
          c.failed,
          c.aggregate_tok_s,
          c.stream_tok_s,
          c.requests_per_s,
          c.goodput_per_s,
          shown(c.ttft_ms.p50),
          shown(c.ttft_ms.p99),
          shown(c.tpot_ms.p50),
          shown(c.tpot_ms.p99),
          shown(c.latency_ms.p50),
          shown(c.latency_ms.p99),
          c.note.empty() ? Json() : Json(c.note)};
}

Records people(const std::vector<CellFigures>& cells) {
  Records records;
  records.columns = {Column{"cell", "load", "", Align::kLeft, 4},
                     Column{"requests", "requests", "", Align::kRight, 9},
                     Column{"failed", "failed", "", Align::kRight, 9},
                     Column{"aggregate_tok_s", "all", "tok/s", Align::kRight, 4},
                     Column{"stream_tok_s", "a stream", "tok/s", Align::kRight, 4},
                     Column{"requests_per_s", "req/s", "", Align::kRight, 3},
                     Column{"goodput_per_s", "good/s", "", Align::kRight, 3},
                     Column{"ttft_p50", "TTFT p50", "ms", Align::kRight, 4},
                     Column{"ttft_p99", "p99", "ms", Align::kRight, 4},
                     Column{"tpot_p50", "TPOT p50", "ms", Align::kRight, 4},
                     Column{"tpot_p99", "p99", "ms", Align::kRight, 4},
                     Column{"latency_p50", "latency p50", "ms", Align::kRight, 4},
                     Column{"latency_p99", "p99", "ms", Align::kRight, 4},
                     Column{"note", "", "", Align::kLeft, 4}};
  for (const CellFigures& cell : cells) records.rows.push_back(people_row(cell));
  return records;
}

Records programs(const std::vector<CellFigures>& cells) {
  Records records;
  for (const char* name : {"cell", "concurrency", "requests", "failed", "aggregate_tok_s", "stream_tok_s",
                           "requests_per_s", "goodput_per_s", "good_share", "queued_ms_max", "correlated", "note"}) {
    records.columns.push_back({name, "", "", Align::kRight, 4});
  }
  for (const CellFigures& c : cells) {
    const bool first = records.rows.empty();
    std::vector<Json> row = {c.cell,           c.concurrency,          c.requests,
                             c.failed,         c.aggregate_tok_s,      c.stream_tok_s,
                             c.requests_per_s, c.goodput_per_s,        c.good_share,
                             c.queued_ms_max,  Json(cells.size() > 1), c.note.empty() ? Json() : Json(c.note)};
    const std::pair<const char*, const Spread*> spreads[] = {
        {"ttft_from_schedule_ms", &c.ttft_ms}, {"tpot_ms", &c.tpot_ms}, {"latency_from_schedule_ms", &c.latency_ms}};
    for (const auto& [name, spread] : spreads) {
      add_percentile(std::string(name) + "_p50", spread->p50, first, &records, &row);
      add_percentile(std::string(name) + "_p90", spread->p90, first, &records, &row);
      add_percentile(std::string(name) + "_p99", spread->p99, first, &records, &row);
    }
    records.rows.push_back(std::move(row));
  }
  return records;
}

}  // namespace

Records load_rows(const std::vector<CellFigures>& cells, report::Format format) {
  return for_people(format) ? people(cells) : programs(cells);
}

}  // namespace bk::tool
