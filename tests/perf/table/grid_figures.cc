#include "grid_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace bk::perf {
namespace {

using Kind = Compared::Kind;
using Requests = std::vector<TrueRequest>;
using Values = std::vector<double>;

constexpr Nanos kSlack = kMillisecond;

std::size_t count_in(const Json& json) { return static_cast<std::size_t>(json.as_int().value_or(0)); }

Values values_of(const Requests& requests, double (TrueRequest::*figure)() const) {
  Values values;
  for (const TrueRequest& one : requests) values.push_back((one.*figure)());
  return values;
}

/// Decode rates of all; empty when one of them has none, as a median over some would be one of other requests.
Values decode_rates(const Requests& requests) {
  Values values;
  for (const TrueRequest& one : requests) {
    if (!one.decode_tok_s()) return {};
    values.push_back(*one.decode_tok_s());
  }
  return values;
}

std::optional<double> median(Values values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> nearest_rank(Values values, double p) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

/// Gathers figures of one program.
class Page {
 public:
  explicit Page(const NewestRequests& newest) : newest_(newest) {}

  void time(const char* name, const Json& seen, std::optional<double> truth) { add(Kind::kTime, name, seen, truth); }
  void rate(const char* name, const Json& seen, std::optional<double> truth) { add(Kind::kRate, name, seen, truth); }
  void count(const char* name, const Json& seen, double truth) { add(Kind::kCount, name, seen, truth); }
  /// Two lists of one value a request, whose order the requests' way decides.
  void sorted(Kind kind, const char* name, const Json& list, std::size_t from, Values truth) {
    Values seen;
    for (std::size_t i = from; i < std::min(from + truth.size(), list.items().size()); ++i) {
      seen.push_back(list.items()[i].as_double().value_or(0));
    }
    std::sort(seen.begin(), seen.end());
    std::sort(truth.begin(), truth.end());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      figures_.push_back({kind, name, i < seen.size() ? std::optional(seen[i]) : std::nullopt, truth[i]});
    }
  }

  Result<std::vector<Compared>> of_probe(const Json& document) {
    const auto& requests = document["requests"].is_array() ? document["requests"].items() : Json::Array{document};
    BK_ASSIGN(const Requests truth, newest_(requests.size()));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      time("ttft_ms", requests[i]["ttft_ms"], truth[i].ttft_ms());
      time("end_ms", requests[i]["end_ms"], truth[i].latency_ms());
      rate("decode_tok_s", requests[i]["decode_tok_s"], truth[i].decode_tok_s());
      counts(requests[i], truth[i]);
    }
    return figures_;
  }

  Result<std::vector<Compared>> of_dec(const Json& document) {
    std::size_t all = 0, done = 0;
    for (const Json& row : document["rows"].items()) all += count_in(row["concurrency"]);
    BK_ASSIGN(const Requests truth, newest_(all));
    for (const Json& row : document["rows"].items()) {
      const std::size_t streams = count_in(row["concurrency"]);
      const Requests round(at(truth, done), at(truth, done + streams));
      done += streams;
      time("ttft_ms", row["ttft_ms"], median(values_of(round, &TrueRequest::ttft_ms)));
      rate("decode_tok_s", row["decode_tok_s"], median(decode_rates(round)));
      rate("round_tok_s", row["round_tok_s"], per_second(tokens_of(round), round));
      count("completion_tokens", row["completion_tokens"], tokens_of(round));
    }
    return figures_;
  }

  Result<std::vector<Compared>> of_conc(const Json& document) {
    std::size_t all = 0, done = 0;
    for (const Json& row : document["rows"].items()) all += count_in(row["requests"]);
    BK_ASSIGN(const Requests truth, newest_(all));
    for (const Json& row : document["rows"].items()) {
      const std::size_t requests = count_in(row["requests"]);
      const Requests cell(at(truth, done), at(truth, done + requests));
      done += requests;
      const Values ttft = values_of(cell, &TrueRequest::ttft_ms), latency = values_of(cell, &TrueRequest::latency_ms);
      rate("aggregate_tok_s", row["aggregate_tok_s"], per_second(tokens_of(cell), cell));
      rate("requests_per_s", row["requests_per_s"], per_second(static_cast<double>(cell.size()), cell));
      double sum = 0;
      const Values rates = decode_rates(cell);
      for (const double one : rates) sum += one;
      if (!rates.empty()) rate("stream_tok_s", row["stream_tok_s"], sum / static_cast<double>(rates.size()));
      time("ttft p50", row["ttft_from_schedule_ms_p50"], nearest_rank(ttft, 0.5));
      time("ttft p90", row["ttft_from_schedule_ms_p90"], nearest_rank(ttft, 0.9));
      time("latency p50", row["latency_from_schedule_ms_p50"], nearest_rank(latency, 0.5));
      time("latency p90", row["latency_from_schedule_ms_p90"], nearest_rank(latency, 0.9));
    }
    return figures_;
  }

  Result<std::vector<Compared>> of_ctx(const Json& document) {
    const auto& rows = document["rows"].items();
    BK_ASSIGN(const Requests truth, newest_(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      time("ttft_ms", rows[i]["ttft_ms"], truth[i].ttft_ms());
      prefill_rate(rows[i]["prefill_tok_s"], truth[i]);
      rate("decode_tok_s", rows[i]["decode_tok_s"], truth[i].decode_tok_s());
      counts(rows[i], truth[i]);
    }
    return figures_;
  }

  Result<std::vector<Compared>> of_tp4(const Json& document) {
    const auto& rows = document["rows"].items();
    BK_ASSIGN(const Requests truth, newest_(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool prefill = rows[i]["part"].as_string() == "prefill";
      time("ttft_ms", rows[i]["ttft_ms"], truth[i].ttft_ms());
      if (prefill) prefill_rate(rows[i]["prefill_tok_s"], truth[i]);
      if (!prefill) rate("decode_tok_s", rows[i]["decode_tok_s"], truth[i].decode_tok_s());
      if (!prefill) rate("e2e_tok_s", rows[i]["e2e_tok_s"], 1e3 * truth[i].tokens / truth[i].latency_ms());
      counts(rows[i], truth[i]);
    }
    return figures_;
  }

  Result<std::vector<Compared>> of_streamgap(const Json& document) {
    BK_ASSIGN(const Requests truth, newest_(2));
    const TrueRequest &stream = truth[0], &ingest = truth[1];
    const Nanos begins[] = {stream.first(), ingest.arrived, ingest.end};
    const Nanos ends[] = {ingest.arrived, ingest.end, stream.last()};
    const auto& rows = document["rows"].items();
    if (rows.size() != 3) return fail(Errc::kMismatch, "streamgap shows other phases than three");
    for (std::size_t i = 0; i < 3; ++i) {
      const double seen = rows[i]["tok_s"].as_double().value_or(0);
      rate("tok_s", rows[i]["tok_s"], true_phase_rate(stream, begins[i], ends[i], kSlack, seen));
      time("phase", Json(1e3 * rows[i]["seconds"].as_double().value_or(0)), to_ms(ends[i] - begins[i]));
      time("longest gap", rows[i]["gap_max_ms"], longest_gap(stream, ingest, i));
    }
    count("completion_tokens", document["completion_tokens"], stream.tokens);
    return figures_;
  }

  Result<std::vector<Compared>> of_benchy(const Json& document) {
    const auto& rows = document["benchmarks"].items();
    BK_ASSIGN(const std::size_t runs, runs_in(rows));
    // In prefix-caching mode a row of loads and one of questions take turns, batch by batch.
    std::size_t all = 0, begin = 0;
    for (const Json& row : rows) all += (runs + 1) * count_in(row["concurrency"]);
    BK_ASSIGN(const Requests truth, newest_(all));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool loads = rows[i]["is_context_prefill_phase"].as_bool().value_or(false);
      const bool asks = i > 0 && rows[i - 1]["is_context_prefill_phase"].as_bool().value_or(false);
      const std::size_t streams = count_in(rows[i]["concurrency"]), stride = loads || asks ? 2 * streams : streams;
      const std::size_t own = asks ? begin - (runs + 1) * streams + streams : begin;
      if (asks) begin -= (runs + 1) * streams;
      for (std::size_t run = 0; run < runs; ++run) {
        const std::size_t from = own + (run + 1) * stride;
        of_batch(rows[i], run, {at(truth, from), at(truth, from + streams)});
      }
      begin += (runs + 1) * (asks ? 2 * streams : streams);
    }
    return figures_;
  }

 private:
  static Requests::const_iterator at(const Requests& requests, std::size_t index) {
    return requests.begin() + static_cast<std::ptrdiff_t>(index);
  }

  void add(Kind kind, const char* name, const Json& seen, std::optional<double> truth) {
    figures_.push_back({kind, name, seen.as_double(), truth});
  }

  void counts(const Json& row, const TrueRequest& truth) {
    count("completion_tokens", row["completion_tokens"], truth.tokens);
    count("prompt_tokens", row["prompt_tokens"], truth.prompt_tokens);
    count("cached_tokens", row["cached_tokens"], truth.cached_tokens);
  }

  // A rate over so short a time says no more than the time does, which has a bound of its own.
  void prefill_rate(const Json& seen, const TrueRequest& truth) {
    constexpr double kShort_ms = 200;
    if (truth.ttft_ms() >= kShort_ms) rate("prefill_tok_s", seen, truth.prefill_tok_s());
  }

  static std::optional<double> longest_gap(const TrueRequest& stream, const TrueRequest& ingest, std::size_t phase) {
    std::optional<double> longest;
    for (std::size_t i = 1; i < stream.events.size(); ++i) {
      const Nanos begin = stream.events[i - 1].first, end = stream.events[i].first;
      // A gap that touches a boundary belongs to whichever phase the client saw it in.
      const std::size_t own = end <= ingest.arrived + kSlack ? 0 : begin >= ingest.end - kSlack ? 2 : 1;
      if (own == phase) longest = std::max(longest.value_or(0), to_ms(end - begin));
    }
    return longest;
  }

  static Result<std::size_t> runs_in(const Json::Array& rows) {
    const std::size_t runs = rows.empty() ? 0 : rows.front()["tg_throughput"]["values"].items().size();
    if (runs == 0) return fail(Errc::kMismatch, "benchy shows no run");
    return runs;
  }

  void of_batch(const Json& row, std::size_t run, const Requests& batch) {
    const std::size_t from = run * batch.size();
    const Values ttft = values_of(batch, &TrueRequest::ttft_ms), rates = decode_rates(batch);
    sorted(Kind::kTime, "ttfr", row["ttfr"]["values"], from, ttft);
    sorted(Kind::kTime, "e2e_ttft", row["e2e_ttft"]["values"], from, ttft);
    sorted(Kind::kRate, "tg_req", row["tg_req_throughput"]["values"], from, rates);
    sorted(Kind::kRate, "decode_tok_s", row["correct"]["decode_tok_s"]["values"], from, rates);
    double prompt = 0, later = 0;
    Nanos start = batch.front().arrived, first = batch.front().first(), last_first = 0, last = 0;
    for (const TrueRequest& one : batch) {
      prompt += one.prompt_tokens;
      later += one.tokens_after_first();
      start = std::min(start, one.arrived);
      first = std::min(first, one.first());
      last_first = std::max(last_first, one.first());
      last = std::max(last, one.last());
    }
    const auto nth = [run](const Json& metric) -> const Json& { return metric["values"].items()[run]; };
    if (last > first) rate("tg_total", nth(row["tg_throughput"]), later / to_s(last - first));
    const bool loads = row["is_context_prefill_phase"].as_bool().value_or(false);
    if (!loads && to_ms(last_first - start) >= 200 && batch.front().cached_tokens == 0) {
      rate("pp_total", nth(row["pp_throughput"]), prompt / to_s(last_first - start));
    }
  }

  const NewestRequests& newest_;
  std::vector<Compared> figures_;
};

}  // namespace

Result<std::vector<Compared>> figures_beside_truth(const std::string& program, const Json& document,
                                                   const NewestRequests& newest) {
  Page page(newest);
  if (program == "bench-probe") return page.of_probe(document);
  if (program == "bench-dec") return page.of_dec(document);
  if (program == "bench-conc") return page.of_conc(document);
  if (program == "bench-ctx") return page.of_ctx(document);
  if (program == "bench-tp4") return page.of_tp4(document);
  if (program == "streamgap") return page.of_streamgap(document);
  if (program == "benchy") return page.of_benchy(document);
  return fail(Errc::kMismatch, "there is no truth for " + program);
}

GridErrors errors_of(const std::vector<Compared>& figures) {
  GridErrors errors;
  for (const Compared& figure : figures) {
    if (!figure.truth && !figure.seen) continue;
    ++errors.figures;
    if (!figure.seen) {
      ++errors.missing;
    } else if (!figure.truth) {
      ++errors.wrong;
    } else if (figure.kind == Kind::kCount) {
      errors.wrong += *figure.seen != *figure.truth ? 1 : 0;
    } else if (figure.kind == Kind::kTime) {
      const double apart = std::abs(*figure.seen - *figure.truth);
      if (apart >= errors.time_ms) errors.worst_time = figure.name;
      errors.time_ms = std::max(errors.time_ms, apart);
    } else {
      const double apart = 100 * std::abs(*figure.seen / *figure.truth - 1);
      if (apart >= errors.rate_pct) errors.worst_rate = figure.name;
      errors.rate_pct = std::max(errors.rate_pct, apart);
    }
  }
  return errors;
}

}  // namespace bk::perf
