#include "prober.h"

#include <fmt/format.h>

#include <ctime>

#include "engine/body.h"
#include "engine/counters.h"
#include "engine/metrics_client.h"
#include "engine/models.h"

namespace bk::supervisor {
namespace {

/// Keeps a whole answer.
class Keeper final : public http::Handler {
 public:
  void on_sent(Nanos, Nanos, bool) override {}
  void on_headers(int status, const std::vector<std::pair<std::string, std::string>>&, Nanos) override {
    response.status = status;
  }
  void on_bytes(std::string_view bytes, Nanos) override { response.body.append(bytes); }
  void on_end(const http::End& last) override { end = last; }

  http::Response response;
  std::optional<http::End> end;
};

Error no_success(const http::Response& response, const std::string& what) {
  return {Errc::kHttp, fmt::format("{} got HTTP {}: {}", what, response.status, engine::error_message(response.body)),
          ""};
}

}  // namespace

Result<http::Response> Prober::fetch(http::Request request) {
  const std::string url = request.url;
  Keeper keeper;
  const http::TransferId id = transport_->start(std::move(request), &keeper);
  bool cancelled = false;
  while (!keeper.end) {
    transport_->run(monotonic_now() + rules_.watch_every);
    if (cancelled || keeper.end || !stop_()) continue;
    transport_->cancel(id);
    cancelled = true;
  }
  if (keeper.end->kind == http::End::Kind::kComplete) return std::move(keeper.response);
  const bool late = keeper.end->kind == http::End::Kind::kTimedOut;
  return fail(late ? Errc::kTimeout : Errc::kConnect, keeper.end->message, url);
}

Result<std::string> Prober::metrics_text(const engine::Endpoint& endpoint) {
  http::Request request = engine::plain_request(endpoint, "", {}, {.total = rules_.models_limit});
  request.url = engine::metrics_url(endpoint);
  BK_ASSIGN(http::Response response, fetch(std::move(request)));
  if (response.status != 200) return fail(no_success(response, "the metrics page"));
  return std::move(response.body);
}

std::optional<Reading> Prober::read(const engine::Endpoint& endpoint) {
  const auto text = metrics_text(endpoint);
  const auto page = text ? engine::parse_metrics(*text) : Result<engine::MetricsPage>(fail(text.error()));
  if (!page) return {};
  const engine::Counters counters = engine::read_counters(*page);
  if (!counters.running || !counters.generation_tokens) return {};
  return Reading{*counters.running, counters.waiting.value_or(0), *counters.generation_tokens};
}

Result<std::string> Prober::listed_model(const engine::Endpoint& endpoint, const std::string& wanted) {
  const auto response = fetch(engine::plain_request(endpoint, "/v1/models", {}, {.total = rules_.models_limit}));
  if (!response) return fail(response.error().with("/v1/models"));
  if (response->status != 200) return fail(no_success(*response, "/v1/models"));
  BK_ASSIGN(const auto list, engine::parse_models(response->body));
  BK_ASSIGN(const auto served, engine::choose_model(list, wanted));
  return served.id;
}

Result<std::optional<int>> Prober::chat(engine::Endpoint endpoint, const std::string& model) {
  endpoint.model = model;
  engine::Generation generation;
  generation.prompt = "Say hello.";
  generation.max_tokens = kProbeTokens;
  generation.temperature = 0;
  generation.stream = false;
  const auto response =
      fetch(engine::make_request(endpoint, generation, {.connect = rules_.models_limit, .total = rules_.chat_limit}));
  if (!response) return fail(response.error().with("the chat"));
  if (response->status != 200) return fail(no_success(*response, "the chat"));
  const auto body = parse_json(response->body);
  if (!body || (*body)["choices"].items().empty()) return fail(Errc::kServer, "the chat came back without a choice");
  const auto tokens = (*body)["usage"]["completion_tokens"].as_int();
  if (!tokens) return std::optional<int>();
  return std::optional<int>(static_cast<int>(*tokens));
}

Cycle Prober::cycle(const engine::Endpoint& endpoint, const std::string& served_model) {
  Cycle cycle;
  const std::time_t seconds = wall_now() / kSecond;
  std::tm local{};
  localtime_r(&seconds, &local);
  cycle.hour = local.tm_hour;
  cycle.day = local.tm_year * 366 + local.tm_yday;
  const auto model = listed_model(endpoint, served_model);
  if (!model) {
    cycle.why = model.error().what;
    cycle.probe_tokens = 0;  // it was not asked to generate
    return cycle;
  }
  cycle.before = read(endpoint);
  const auto tokens = chat(endpoint, *model);
  cycle.healthy = tokens.has_value();
  if (tokens) {
    cycle.probe_tokens = *tokens;
  } else {
    cycle.why = tokens.error().what;
  }
  return cycle;
}

Status Prober::reset_cache(const engine::Endpoint& endpoint) {
  http::Request request =
      engine::plain_request(endpoint, "/reset_prefix_cache", Json::object(), {.total = rules_.models_limit});
  BK_ASSIGN(const http::Response response, fetch(std::move(request)));
  if (response.status != 200) return fail(no_success(response, "/reset_prefix_cache"));
  return {};
}

}  // namespace bk::supervisor
