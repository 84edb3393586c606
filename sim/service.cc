#include "service.h"

#include <unistd.h>

#include "base/text.h"
#include "base/version.h"
#include "metrics_page.h"
#include "physics/random.h"

namespace bk::sim {
namespace {

constexpr std::string_view kJson = "application/json";

// Counters as they read after a restart at `base`.
physics::EngineCounters since(physics::EngineCounters c, const physics::EngineCounters& base) {
  c.steps -= base.steps;
  c.drafts -= base.drafts;
  c.draft_tokens -= base.draft_tokens;
  c.accepted_tokens -= base.accepted_tokens;
  c.prompt_tokens -= base.prompt_tokens;
  c.generation_tokens -= base.generation_tokens;
  c.cached_tokens -= base.cached_tokens;
  c.prefix_queries -= base.prefix_queries;
  c.iteration_tokens_sum -= base.iteration_tokens_sum;
  for (std::size_t i = 0; i < c.accepted_per_position.size(); ++i)
    c.accepted_per_position[i] -= base.accepted_per_position[i];
  for (std::size_t i = 0; i < c.iteration_buckets.size(); ++i) c.iteration_buckets[i] -= base.iteration_buckets[i];
  return c;
}

physics::EngineCounters zero_like(const physics::EngineCounters& c) {
  physics::EngineCounters z;
  z.accepted_per_position.assign(c.accepted_per_position.size(), 0);
  z.iteration_buckets.assign(c.iteration_buckets.size(), 0);
  return z;
}

}  // namespace

Service::Service(Loop& loop, const Options& options, physics::Configured configured, std::uint64_t seed, Faults faults,
                 std::string api_key, Script script)
    : loop_(loop),
      options_(options),
      configured_(std::move(configured)),
      seed_(seed),
      faults_(faults),
      api_key_(std::move(api_key)),
      model_(faults.wrong_model ? options.served_model_name + "-other" : options.served_model_name),
      engine_(configured_.params, seed, options.boot_index),
      server_(loop, *this),
      generation_(loop, server_, tokenizer_, faults_, truth_, engine_, seed, options.boot_index, model_),
      script_(loop, server_, truth_, std::move(script), model_),
      counters_at_restart_(zero_like(engine_.counters())),
      process_start_s_(to_s(wall_now())) {
  generation_.on_finished([this] { after_request(); });
}

void Service::on_gone(std::uint64_t connection_id) {
  generation_.forget(connection_id);
  script_.forget(connection_id);
}

void Service::error(Connection& connection, const ApiError& e, std::string_view extra_headers) {
  connection.respond(e.status, kJson, e.body(), extra_headers);
}

void Service::on_request(Connection& connection, HttpRequest request) {
  if (!api_key_.empty() && request.path.starts_with("/v1/")) {
    const std::string* given = request.header("authorization");
    if (given == nullptr || *given != "Bearer " + api_key_) {
      connection.respond(401, kJson, R"({"error":"Unauthorized"})");
      return;
    }
  }
  if (script_.serve(connection, request)) return;
  const bool known = request.method == "GET" ? route_get(connection, request)
                                             : request.method == "POST" && route_post(connection, request);
  if (known) return;
  static const std::vector<std::string> paths = {
      "/v1/models", "/v1/chat/completions", "/v1/completions", "/tokenize", "/detokenize", "/health", "/version",
      "/metrics",   "/reset_prefix_cache",  "/sim/truth"};
  const bool exists = std::find(paths.begin(), paths.end(), request.path) != paths.end();
  connection.respond(exists ? 405 : 404, kJson,
                     exists ? R"({"detail":"Method Not Allowed"})" : R"({"detail":"Not Found"})");
}

bool Service::route_get(Connection& connection, const HttpRequest& request) {
  if (request.path == "/health") {
    connection.respond(200, {}, {});
  } else if (request.path == "/version") {
    connection.respond(200, kJson, Json::object().set("version", version()).dump());
  } else if (request.path == "/v1/models") {
    models(connection);
  } else if (request.path == "/metrics") {
    metrics(connection);
  } else if (request.path == "/sim/truth") {
    truth(connection, request);
  } else {
    return false;
  }
  return true;
}

bool Service::route_post(Connection& connection, const HttpRequest& request) {
  if (request.path == "/v1/chat/completions" || request.path == "/v1/completions") {
    generate(connection, request, request.path == "/v1/chat/completions");
  } else if (request.path == "/tokenize") {
    tokenize(connection, request);
  } else if (request.path == "/detokenize") {
    detokenize(connection, request);
  } else if (request.path == "/reset_prefix_cache") {
    engine_.reset_prefix_cache();
    connection.respond(200, {}, {});
  } else {
    return false;
  }
  return true;
}

// Refusals that come before a request is looked at. True when it was answered.
bool Service::refuse(Connection& connection, const HttpRequest& request) {
  (void)request;
  if (dying_) {
    error(connection, {500, "EngineCore encountered an issue.", "InternalServerError", Json()});
  } else if (faults_.reject_429 && rejected_429_ < *faults_.reject_429) {
    ++rejected_429_;
    error(connection, {429, "Too many requests; try again later.", "RateLimitError", Json()}, "retry-after: 1\r\n");
  } else if (faults_.reject_503 && rejected_503_ < *faults_.reject_503) {
    ++rejected_503_;
    error(connection, {503, "The server is overloaded; try again later.", "ServiceUnavailableError", Json()},
          "retry-after: 1\r\n");
  } else if (faults_.empty_200) {
    connection.respond(200, "text/event-stream; charset=utf-8", {});
  } else {
    return false;
  }
  return true;
}

void Service::generate(Connection& connection, const HttpRequest& request, bool chat) {
  if (refuse(connection, request)) return;
  ApiError why;
  const ModelLimits limits{model_, configured_.params.max_model_len, configured_.params.kv_tokens};
  auto parsed = parse_gen_request(request.body, chat, tokenizer_, limits, why);
  if (!parsed) return error(connection, why);
  const std::string* client_id = request.header("x-request-id");
  TruthRecord& record = truth_.add(new_id(request, chat), request.path, request.arrived, request.received);
  if (client_id != nullptr) record.client_request_id = *client_id;
  if (faults_.die_after && generation_.finished().all() >= *faults_.die_after) {
    dying_ = true;
    exit_code_ = 1;
    connection.begin_chunked(200, "text/event-stream; charset=utf-8");
    connection.send_chunk(error_event("EngineCore encountered an issue. See stack trace for the root cause.") +
                          "data: [DONE]\n\n");
    connection.end_chunks();
    record.outcome = "fault_die";
    loop_.at(monotonic_now() + 200 * kMillisecond, [this] { loop_.stop(); });
    return;
  }
  generation_.start(connection, std::move(*parsed), record);
}

std::string Service::new_id(const HttpRequest& request, bool chat) {
  const char* prefix = chat ? "chatcmpl-" : "cmpl-";
  const std::string* given = request.header("x-request-id");
  const auto usual = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (given != nullptr && !given->empty() && std::all_of(given->begin(), given->end(), usual)) return prefix + *given;
  return fmt::format("{}{:016x}", prefix,
                     physics::mix({seed_, options_.boot_index, static_cast<std::uint64_t>(++ids_)}));
}

void Service::models(Connection& connection) {
  Json model = Json::object();
  model.set("id", model_).set("object", "model").set("created", wall_now() / kSecond).set("owned_by", "sim-engine");
  model.set("root", model_).set("parent", Json()).set("max_model_len", configured_.params.max_model_len);
  connection.respond(200, kJson, Json::object().set("object", "list").set("data", Json::array().push(model)).dump());
}

void Service::metrics(Connection& connection) {
  if (faults_.dead_metrics) {
    connection.respond(503, "text/plain", "metrics unavailable\n");
    return;
  }
  MetricsView view;
  view.counters = since(engine_.counters(), counters_at_restart_);
  view.running = engine_.running() + script_.open_streams();
  view.waiting = engine_.waiting();
  view.kv_usage_ratio = engine_.kv_usage_ratio();
  view.process_start_s = process_start_s_;
  view.model = model_;
  view.engines = faults_.engines;
  view.finished_stop = generation_.finished().stop - finished_at_restart_.stop;
  view.finished_length = generation_.finished().length - finished_at_restart_.length;
  view.finished_abort = generation_.finished().abort - finished_at_restart_.abort;
  connection.respond(200, "text/plain; version=1.0.0; charset=utf-8", metrics_page(view));
}

void Service::truth(Connection& connection, const HttpRequest& request) {
  Json head = Json::object();
  head.set("schema_version", 1).set("version", version()).set("now_ns", monotonic_now());
  head.set("pid", static_cast<std::int64_t>(getpid()));
  head.set("profile", configured_.params.profile).set("seed", static_cast<std::int64_t>(seed_));
  head.set("boot_index", static_cast<std::int64_t>(options_.boot_index)).set("boot_factor", engine_.boot_factor());
  head.set("max_model_len", configured_.params.max_model_len);
  Json knobs = Json::object();
  for (const auto& [name, value] : configured_.values) knobs.set(name, value);
  head.set("knobs", knobs).set("parameters", configured_.params.to_json()).set("faults", options_.faults);
  const std::size_t at = request.query.find("since=");
  const auto since = at == std::string::npos ? std::nullopt : parse_int(std::string_view(request.query).substr(at + 6));
  connection.respond(200, kJson, truth_.to_json(head, since.value_or(0)));
}

void Service::tokenize(Connection& connection, const HttpRequest& request) {
  const auto doc = parse_json(request.body);
  const bool messages = doc && (*doc)["messages"].is_array();
  if (!doc || (!messages && !(*doc)["prompt"].as_string())) {
    return error(connection,
                 {400, "1 validation error:\n  {'type': 'missing', 'loc': ('body', 'prompt'), 'msg': 'Field required'}",
                  "Bad Request", Json("body.prompt")});
  }
  const std::string text =
      messages ? render_messages((*doc)["messages"], (*doc)["add_generation_prompt"].as_bool().value_or(true))
               : *(*doc)["prompt"].as_string();
  const auto ids = tokenizer_.encode(text);
  Json strings;
  if ((*doc)["return_token_strs"].as_bool().value_or(false)) {
    strings = Json::array();
    for (const std::int32_t id : ids) strings.push(tokenizer_.bytes_of(id));
  }
  Json out = Json::object();
  out.set("count", ids.size())
      .set("max_model_len", configured_.params.max_model_len)
      .set("tokens", ids)
      .set("token_strs", strings);
  connection.respond(200, kJson, out.dump());
}

void Service::detokenize(Connection& connection, const HttpRequest& request) {
  const auto doc = parse_json(request.body);
  if (!doc || !(*doc)["tokens"].is_array()) {
    return error(connection,
                 {400, "1 validation error:\n  {'type': 'missing', 'loc': ('body', 'tokens'), 'msg': 'Field required'}",
                  "Bad Request", Json("body.tokens")});
  }
  std::vector<std::int32_t> ids;
  for (const Json& id : (*doc)["tokens"].items()) ids.push_back(static_cast<std::int32_t>(id.as_int().value_or(-1)));
  connection.respond(200, kJson, Json::object().set("prompt", tokenizer_.decode(ids)).dump());
}

void Service::after_request() {
  if (!faults_.restart_after || restarted_ || generation_.finished().all() < *faults_.restart_after) return;
  restarted_ = true;
  counters_at_restart_ = engine_.counters();
  finished_at_restart_ = generation_.finished();
  process_start_s_ = to_s(wall_now());
}

}  // namespace bk::sim
