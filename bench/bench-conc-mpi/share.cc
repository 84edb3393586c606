#include "share.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "load/aggregate.h"

namespace bk::bench_conc_mpi {
namespace {

using stream::Figure;
using stream::RequestRecord;

constexpr int kRequestsPerStream = 8, kOpenRequests = 32;  // as bench-conc has them
constexpr std::uint64_t kSeedStride = 1'000'003;           // far beyond the requests of one rank

/// The part of `whole` that falls to one of `size`: the first ones take what is left over.
int part(int whole, int rank, int size) { return whole / size + (rank < whole % size ? 1 : 0); }

Json optional_ns(const std::optional<Nanos>& t) { return t ? Json(*t) : Json(); }

std::optional<Nanos> ns_of(const Json& json) { return json.as_int(); }

Json figure_json(const Figure& figure) {
  return Json::object().set("value", figure.value).set("reason", figure.reason);
}

Figure figure_of(const Json& json) { return {json["value"].as_double(), json["reason"].as_string().value_or("")}; }

Json request_to_json(const RequestRecord& r, Nanos zero) {
  Json json = Json::object();
  json.set("outcome", static_cast<int>(r.outcome)).set("reason", r.reason).set("http_status", r.http_status);
  json.set("scheduled", r.scheduled - zero).set("sent", r.sent != 0 ? Json(r.sent - zero) : Json());
  json.set("ttft", optional_ns(r.ttft)).set("last_token", optional_ns(r.last_token)).set("end", optional_ns(r.end));
  json.set("tokens", r.completion_tokens);
  return json.set("decode_tok_s", figure_json(r.decode_tok_s)).set("tpot_ms", figure_json(r.tpot_ms));
}

RequestRecord request_from_json(const Json& json, Nanos zero) {
  RequestRecord r;
  r.outcome = static_cast<stream::Outcome>(json["outcome"].as_int().value_or(0));
  r.reason = json["reason"].as_string().value_or("");
  r.http_status = static_cast<int>(json["http_status"].as_int().value_or(0));
  r.scheduled = json["scheduled"].as_int().value_or(0) + zero;
  if (const auto sent = json["sent"].as_int()) r.sent = *sent + zero;
  r.ttft = ns_of(json["ttft"]), r.last_token = ns_of(json["last_token"]), r.end = ns_of(json["end"]);
  r.completion_tokens = json["tokens"].as_int();
  r.decode_tok_s = figure_of(json["decode_tok_s"]);
  r.tpot_ms = figure_of(json["tpot_ms"]);
  return r;
}

/// As a shell takes it for one word.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::vector<leg::ConcurrencyPlan> cells_of(const leg::ConcurrencyPlan& plan) {
  std::vector<leg::ConcurrencyPlan> cells;
  leg::ConcurrencyPlan cell = plan;
  cell.warmup = 0;
  for (const double rate : plan.rates) {
    cell.rates = {rate};
    cell.requests = plan.requests > 0 ? plan.requests : kOpenRequests;
    cells.push_back(cell);
  }
  if (!cells.empty()) return cells;
  for (const int concurrency : plan.concurrency) {
    cell.concurrency = {concurrency};
    cell.requests = plan.requests > 0 ? plan.requests : kRequestsPerStream * concurrency;
    cells.push_back(cell);
  }
  return cells;
}

std::optional<Share> share_of(const leg::ConcurrencyPlan& cell, int rank, int size) {
  Share share;
  share.plan = cell;
  share.plan.requests = part(cell.requests, rank, size);
  share.plan.seed = cell.seed + kSeedStride * static_cast<std::uint64_t>(rank);
  if (!cell.rates.empty()) {
    share.plan.rates = {cell.rates.front() / size};
    if (cell.arrivals == leg::Arrivals::kConstant) share.delay = from_s(rank / cell.rates.front());
  } else {
    share.plan.concurrency = {part(cell.concurrency.front(), rank, size)};
    if (share.plan.concurrency.front() == 0) return std::nullopt;
  }
  if (share.plan.requests == 0) return std::nullopt;
  return share;
}

std::string to_text(const load::Sample& sample, Nanos zero) {
  Json requests = Json::array();
  for (const RequestRecord& r : sample.requests) requests.push(request_to_json(r, zero));
  Json json = Json::object();
  json.set("client_cpu_share", sample.client.cpu_share).set("client_worst_delay", sample.client.worst_delay);
  return json.set("requests", std::move(requests)).dump();
}

Result<load::Sample> from_text(const std::string& text, Nanos zero) {
  BK_ASSIGN(const Json json, parse_json(text));
  if (!json["requests"].is_array()) return fail(Errc::kParse, "a rank sent no sample");
  load::Sample sample;
  sample.client.cpu_share = json["client_cpu_share"].as_double().value_or(0);
  sample.client.worst_delay = json["client_worst_delay"].as_int().value_or(0);
  for (const Json& request : json["requests"].items()) sample.requests.push_back(request_from_json(request, zero));
  return sample;
}

load::Sample merged(const leg::ConcurrencyPlan& cell, const std::vector<load::Sample>& parts) {
  load::Sample whole;
  whole.leg = "concurrency";
  const bool open = !cell.rates.empty();
  whole.cell = open ? fmt::format("rate={}", cell.rates.front()) : fmt::format("C={}", cell.concurrency.front());
  for (const load::Sample& one : parts) {
    whole.requests.insert(whole.requests.end(), one.requests.begin(), one.requests.end());
    whole.client.cpu_share = std::max(whole.client.cpu_share, one.client.cpu_share);
    whole.client.worst_delay = std::max(whole.client.worst_delay, one.client.worst_delay);
  }
  whole.concurrency = open ? std::max(1, load::most_at_once(whole.requests)) : cell.concurrency.front();
  for (const RequestRecord& r : whole.requests) {
    if (whole.started == 0 || r.scheduled < whole.started) whole.started = r.scheduled;
    if (r.end && r.sent != 0) whole.ended = std::max(whole.ended, r.sent + *r.end);
  }
  whole.acceptance.reason = "several_clients";
  leg::fill_load_metrics(cell.limits, &whole);
  return whole;
}

std::string srun_line(int nodes, const std::vector<std::string>& args) {
  std::string line =
      fmt::format("srun --mpi=pmix --nodes={} --ntasks={} --ntasks-per-node=1 bench-conc-mpi", nodes, nodes);
  for (const std::string& word : args) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_=+./:,@%") == std::string::npos;
    line += ' ';
    line += plain ? word : quoted(word);
  }
  return line;
}

}  // namespace bk::bench_conc_mpi
