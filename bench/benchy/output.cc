#include "output.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/version.h"
#include "formulas.h"
#include "report/markdown.h"
#include "report/table.h"

namespace bk::benchy {
namespace {

using Values = std::vector<double>;
using Cells = std::vector<std::string>;

Json metric(const Values& values) {
  if (values.empty()) return {};
  return Json::object().set("mean", mean_of(values)).set("std", population_sd_of(values)).set("values", values);
}

std::string cell(const Values& values) {
  if (values.empty()) return "";
  return fmt::format("{:.2f} ± {:.2f}", mean_of(values), population_sd_of(values));
}

std::string test_name(const Benchmark& row, bool prefill) {
  const std::string phase =
      row.is_context ? (prefill ? "ctx_pp" : "ctx_tg")
                     : fmt::format("{}{}", prefill ? "pp" : "tg", prefill ? row.prompt_size : row.response_size);
  const std::string depth = row.context_size > 0 ? fmt::format(" @ d{}", row.context_size) : "";
  return fmt::format("{}{} (c{})", phase, depth, row.concurrency);
}

std::string note_of(const Benchmark& row) {
  std::string note;
  const auto say = [&note](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  if (row.failed > 0) say(fmt::format("{} of {} requests failed: {}", row.failed, row.requests, row.first_failure));
  if (row.empty_first_event) say("the first event bore no token: ttfr, est_ppt and pp t/s (req) are no prefill");
  if (row.cached > 0) say(fmt::format("{} prompt{} came partly from a cache", row.cached, row.cached == 1 ? "" : "s"));
  if (row.at_once > 0) {
    say(fmt::format("{} answer{} came at once, faster than any engine decodes: tg and peak t/s are no decode rates",
                    row.at_once, row.at_once == 1 ? "" : "s"));
  }
  if (row.true_peak_tok_s.empty() && !row.peak_total.empty()) say("streams shorter than 1 s have no peak");
  return note;
}

Json correct_json(const Benchmark& row, const std::string& sized_by) {
  Json json = Json::object();
  json.set("prefill_tok_s", metric(row.prefill_tok_s)).set("decode_tok_s", metric(row.decode_tok_s));
  json.set("decode_basis", row.decode_basis.empty() ? Json() : Json(row.decode_basis));
  json.set("ttft_ms", metric(row.e2e_ttft_ms)).set("peak_tok_s", metric(row.true_peak_tok_s));
  json.set("requests", row.requests).set("requests_failed", row.failed).set("sized_by", sized_by);
  const std::string note = note_of(row);
  return json.set("note", note.empty() ? Json() : Json(note));
}

std::string render(const Cells& header, const std::vector<Cells>& rows, bool markdown) {
  std::vector<report::Align> align(header.size(), report::Align::kRight);
  for (std::size_t i = 0; i < header.size(); ++i) {
    for (const char* words : {"model", "correct", "basis", "note"}) {
      if (header[i] == words) align[i] = report::Align::kLeft;
    }
  }
  return markdown ? report::markdown_table(header, align, rows) : report::table(header, align, rows);
}

}  // namespace

Json to_json(const Outcome& outcome, const Plan& plan, const std::string& model) {
  std::string stamp = format_utc(wall_now());
  if (const auto at = stamp.find('T'); at != std::string::npos) stamp[at] = ' ';
  std::int64_t most = 0;
  for (const std::int64_t concurrency : plan.concurrency) most = std::max(most, concurrency);
  Json benchmarks = Json::array();
  for (const Benchmark& row : outcome.benchmarks) {
    Json json = Json::object();
    json.set("concurrency", row.concurrency).set("context_size", row.context_size);
    json.set("prompt_size", row.prompt_size).set("response_size", row.response_size);
    json.set("is_context_prefill_phase", row.is_context);
    json.set("pp_throughput", metric(row.pp_total)).set("pp_req_throughput", metric(row.pp_req));
    json.set("tg_throughput", metric(row.tg_total)).set("tg_req_throughput", metric(row.tg_req));
    json.set("peak_throughput", metric(row.peak_total)).set("peak_req_throughput", metric(row.peak_req));
    json.set("ttfr", metric(row.ttfr_ms)).set("est_ppt", metric(row.est_ppt_ms));
    json.set("e2e_ttft", metric(row.e2e_ttft_ms));
    json.set("throughput_over_time", Json()).set("requests_throughput_over_time", Json());
    benchmarks.push(json.set("correct", correct_json(row, outcome.sized_by)));
  }
  Json json = Json::object();
  json.set("version", version()).set("timestamp", stamp).set("latency_mode", plan.latency_mode);
  json.set("latency_ms", outcome.latency_ms).set("model", model);
  json.set("prefix_caching_enabled", plan.prefix_caching).set("max_concurrency", most);
  return json.set("benchmarks", benchmarks);
}

std::string to_tables(const Outcome& outcome, const std::string& model, bool markdown) {
  std::vector<Cells> compatible, correct;
  for (const Benchmark& row : outcome.benchmarks) {
    compatible.push_back({model, test_name(row, true), cell(row.pp_total), cell(row.pp_req), "", "", cell(row.ttfr_ms),
                          cell(row.est_ppt_ms), cell(row.e2e_ttft_ms)});
    compatible.push_back({model, test_name(row, false), cell(row.tg_total), cell(row.tg_req), cell(row.peak_total),
                          cell(row.peak_req), "", "", ""});
    correct.push_back({test_name(row, true) + ", " + test_name(row, false), cell(row.e2e_ttft_ms),
                       cell(row.prefill_tok_s), cell(row.decode_tok_s), row.decode_basis, cell(row.true_peak_tok_s),
                       note_of(row)});
  }
  const std::string first = render({"model", "test", "t/s (total)", "t/s (req)", "peak t/s", "peak t/s (req)",
                                    "ttfr (ms)", "est_ppt (ms)", "e2e_ttft (ms)"},
                                   compatible, markdown);
  const std::string second =
      render({"correct", "ttft (ms)", "prefill t/s (req)", "decode t/s (req)", "basis", "peak t/s", "note"}, correct,
             markdown);
  return fmt::format("{}\n{}\nlatency {:.2f} ms, prompts sized by {}\n", first, second, outcome.latency_ms,
                     outcome.sized_by);
}

report::Records to_records(const Outcome& outcome, const std::string& model) {
  report::Records records;
  const auto column = [&records](const std::string& key) { records.columns.push_back({key, "", ""}); };
  // llama-benchy's columns in its order, so that what reads its CSV reads ours; what is more stands behind them.
  for (const char* key : {"model", "test_name"}) column(key);
  constexpr const char* kMetrics[] = {"t_s",     "t_s_req",  "peak_ts",         "peak_ts_req",     "ttfr",
                                      "est_ppt", "e2e_ttft", "correct_t_s_req", "correct_peak_t_s"};
  for (const char* key : kMetrics) {
    column(std::string(key) + "_mean");
    column(std::string(key) + "_std");
  }
  for (const char* key : {"concurrency", "decode_basis", "requests", "requests_failed", "sized_by", "note"})
    column(key);
  for (const Benchmark& row : outcome.benchmarks) {
    for (const bool prefill : {true, false}) {
      static const Values kNone;
      const Values* metrics[] = {
          prefill ? &row.pp_total : &row.tg_total, prefill ? &row.pp_req : &row.tg_req,
          prefill ? &kNone : &row.peak_total,      prefill ? &kNone : &row.peak_req,
          prefill ? &row.ttfr_ms : &kNone,         prefill ? &row.est_ppt_ms : &kNone,
          prefill ? &row.e2e_ttft_ms : &kNone,     prefill ? &row.prefill_tok_s : &row.decode_tok_s,
          prefill ? &kNone : &row.true_peak_tok_s};
      std::vector<Json> cells = {model, test_name(row, prefill)};
      for (const Values* values : metrics) {
        cells.emplace_back(values->empty() ? Json() : Json(mean_of(*values)));
        cells.emplace_back(values->empty() ? Json() : Json(population_sd_of(*values)));
      }
      const std::string note = note_of(row);
      cells.emplace_back(row.concurrency);
      cells.emplace_back(row.decode_basis.empty() ? Json() : Json(row.decode_basis));
      cells.emplace_back(row.requests);
      cells.emplace_back(row.failed);
      cells.emplace_back(outcome.sized_by);
      cells.emplace_back(note.empty() ? Json() : Json(note));
      records.rows.push_back(std::move(cells));
    }
  }
  return records;
}

}  // namespace bk::benchy
