#include "delta.h"
#include "tool/request_json.h"
#include "tool/session.h"

namespace bk::metrics_delta {
namespace {

Json page_json(const Page& page) {
  Json json = Json::object();
  json.set("source", page.source).set("status", page.counters ? "ok" : "unavailable");
  json.set("reason", page.reason.empty() ? Json() : Json(page.reason));
  if (page.counters) json.set("dialect", page.counters->dialect.empty() ? Json() : Json(page.counters->dialect));
  return json;
}

void set_figure(Json& json, const std::string& name, const stream::Figure& figure) {
  json.set(name, figure.value);
  if (!figure.value) json.set(name + "_reason", figure.reason);
}

Json line_json(const Line& line) {
  Json json = Json::object();
  json.set("before", line.before).set("after", line.after);
  if (line.counter) set_figure(json, "delta", line.delta);
  return json;
}

/// SGLang exports lengths per rank, as gauges: they are not summed, and one number for all is a plain mean.
Json sglang_json(const engine::Counters& counters) {
  Json ranks = Json::object();
  double sum = 0;
  for (const auto& [rank, length] : counters.accept_length_by_rank) {
    ranks.set(rank, length);
    sum += length;
  }
  Json json = Json::object();
  json.set("accept_length_per_dp_rank", std::move(ranks));
  json.set("accept_length_mean", sum / static_cast<double>(counters.accept_length_by_rank.size()));
  json.set("accept_length_mean_basis", "plain mean of the second page's gauges over dp ranks");
  return json;
}

}  // namespace

Json to_json(const Delta& delta) {
  Json json = tool::output_head("metrics-delta");
  json.set("before", page_json(delta.before)).set("after", page_json(delta.after));
  Json counters = Json::object();
  Json gauges = Json::object();
  for (const Line& line : delta.lines) (line.counter ? counters : gauges).set(line.name, line_json(line));
  json.set("counters", std::move(counters)).set("gauges", std::move(gauges));
  json.set("acceptance", tool::acceptance_json(delta.acceptance));
  if (!delta.acceptance.value) json.set("acceptance_reason", delta.acceptance.reason);
  Json rates = Json::object();
  set_figure(rates, "decode_tok_s", delta.rates.decode_tok_s);
  set_figure(rates, "prompt_tok_s", delta.rates.prompt_tok_s);
  json.set("rates", std::move(rates));
  json.set("restarted", delta.continuity.restarted).set("resets", delta.continuity.resets);
  const auto& after = delta.after.counters;
  if (after && !after->accept_length_by_rank.empty()) json.set("sglang", sglang_json(*after));
  return json;
}

}  // namespace bk::metrics_delta
