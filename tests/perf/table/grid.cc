#include "grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/process.h"
#include "server.h"

namespace bk::perf {
namespace {

/// One run of one program: the engine's flags, the program's, and how often it is run on that engine.
struct Cell {
  std::string program, knobs;
  std::vector<std::string> engine, flags;
  int runs = 1;  ///< the last one is compared: a second run of one seed finds its prompts in the cache
};

std::vector<Cell> cells_of(bool quick) {
  std::vector<Cell> cells;
  const std::vector<std::string> probe = {"-n", "3", "--warmup", "0", "--tokens", "64", "--prompt-tokens", "1024"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<std::string> still = {"--knob", "STEP_SD=0"};
  for (int k = 0; k <= 7; k += quick ? 7 : 1) {
    const std::vector<std::string> engine = with(still, {"--knob", fmt::format("SPEC_TOKENS={}", k)});
    const std::string knobs = fmt::format("1 to {} tokens an event", k + 1);
    cells.push_back({"bench-probe", knobs, engine, probe});
    cells.push_back({"bench-dec", knobs, engine, {"-C", "1", "--reps", "2", "--warmup", "0", "--tokens", "96"}});
    cells.push_back({"bench-conc", knobs, engine, {"-C", "4", "-n", "8", "--warmup", "0", "--tokens", "64"}});
  }
  cells.push_back(
      {"bench-ctx", "2K and 8K", still, {"--contexts", "2K,8K", "--reps", "1", "--warmup", "0", "--tokens", "64"}});
  cells.push_back({"bench-probe", "reasoning first", still,
                   with(probe, {"--extra-body", R"({"chat_template_kwargs":{"thinking":true}})"})});
  cells.push_back({"bench-probe", "cached prefix", still, with(probe, {"--seed", "5"}), 2});
  return cells;
}

/// The requests of a program's document with the figures to compare, in the order in which they were sent.
std::vector<Json> figures_in(const Json& document) {
  std::vector<Json> all;
  const Json& list = document["requests"].is_array() ? document["requests"] : document["rows"];
  for (const Json& row : list.items()) all.push_back(row);
  return all;
}

Result<std::vector<TrueRequest>> truth_of(const Server& server, std::size_t newest) {
  BK_ASSIGN(const Json truth, server.truth());
  const auto& requests = truth["requests"].items();
  if (requests.size() < newest) return fail(Errc::kMismatch, "the engine knows of fewer requests than were made");
  std::vector<TrueRequest> out;
  for (std::size_t i = requests.size() - newest; i < requests.size(); ++i) {
    BK_ASSIGN(const TrueRequest one, true_request(requests[i]));
    out.push_back(one);
  }
  return out;
}

double apart_pct(double value, double truth) { return 100 * std::abs(value / truth - 1); }

Result<GridRow> compare_cell(const Cell& cell, const Json& document, const Server& server) {
  GridRow row{cell.program, cell.knobs, 0, 0, 0, 0};
  const std::vector<Json> figures = figures_in(document);
  const bool aggregate = cell.program == "bench-conc";
  row.requests =
      aggregate ? static_cast<std::size_t>(figures.front()["requests"].as_int().value_or(0)) : figures.size();
  BK_ASSIGN(const std::vector<TrueRequest> truth, truth_of(server, row.requests));
  if (aggregate) {
    row.rate_pct = apart_pct(figures.front()["aggregate_tok_s"].as_double().value_or(0), true_aggregate(truth));
    return row;
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const auto ttft = figures[i]["ttft_ms"].as_double();
    const auto rate = figures[i]["decode_tok_s"].as_double();
    if (!ttft || !rate) {
      ++row.missing;
      continue;
    }
    row.ttft_ms = std::max(row.ttft_ms, std::abs(*ttft - truth[i].ttft_ms));
    row.rate_pct = std::max(row.rate_pct, apart_pct(*rate, truth[i].decode_tok_s));
  }
  return row;
}

Result<GridRow> run_cell(const std::filesystem::path& bin, const Cell& cell) {
  BK_ASSIGN(const auto server, Server::start_engine(bin / "sim-engine", cell.engine));
  const TempDir dir;
  std::vector<std::string> argv = {bin / cell.program,     "--base-url", server->url(), "--db",
                                   dir.path() / "grid.db", "--quiet",    "--json"};
  argv.insert(argv.end(), cell.flags.begin(), cell.flags.end());
  Json document;
  for (int run = 0; run < cell.runs; ++run) {
    BK_ASSIGN(const Captured ran, run_captured({argv, {}, {}, {}}, 120 * kSecond));
    if (!ran.exit.ok()) return fail(Errc::kEnvironment, cell.program + " failed: " + ran.err, cell.knobs);
    BK_ASSIGN(document, parse_json(ran.out));
  }
  return compare_cell(cell, document, *server);
}

}  // namespace

Result<TrueRequest> true_request(const Json& request) {
  const auto& events = request["events"].items();
  if (events.size() < 2) return fail(Errc::kMismatch, "a request without two events");
  const auto time_of = [](const Json& event) { return event.items()[0].as_int().value_or(0); };
  TrueRequest out;
  out.received = request["received_ns"].as_int().value_or(0);
  out.last = time_of(events.back());
  out.ttft_ms = to_ms(time_of(events.front()) - out.received);
  for (const Json& event : events) out.tokens += event.items()[1].as_double().value_or(0);
  const double after_first = out.tokens - events.front().items()[1].as_double().value_or(0);
  out.decode_tok_s = after_first / to_s(out.last - time_of(events.front()));
  return out;
}

double true_aggregate(const std::vector<TrueRequest>& requests) {
  double tokens = 0;
  Nanos first = 0, last = 0;
  for (const TrueRequest& one : requests) {
    tokens += one.tokens;
    first = first == 0 ? one.received : std::min(first, one.received);
    last = std::max(last, one.last);
  }
  return last > first ? tokens / to_s(last - first) : 0;
}

Result<std::vector<GridRow>> accuracy_grid(const std::filesystem::path& bin, bool quick,
                                           const std::function<void(const std::string&)>& progress) {
  std::vector<GridRow> rows;
  for (const Cell& cell : cells_of(quick)) {
    progress(cell.program + ", " + cell.knobs);
    BK_ASSIGN(GridRow row, run_cell(bin, cell));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bk::perf
