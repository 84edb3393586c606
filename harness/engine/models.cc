#include "engine/models.h"

#include <utility>

#include "base/text.h"
#include "engine/body.h"

namespace bk::engine {
namespace {

std::vector<std::string> ids_of(const ModelList& list) {
  std::vector<std::string> ids;
  for (const ServedModel& model : list.models) ids.push_back(model.id);
  return ids;
}

ServedModel read_model(const Json& entry, const std::string& id) {
  ServedModel model;
  model.id = id;
  for (const Json& alias : entry["aliases"].items()) {
    if (auto text = alias.as_string()) model.aliases.push_back(*text);
  }
  model.parent = entry["parent"].as_string().value_or("");
  model.context_tokens = entry["max_model_len"].as_int();
  if (!model.context_tokens) model.context_tokens = entry["meta"]["n_ctx"].as_int();
  return model;
}

bool is_named(const ServedModel& model, const std::string& name) {
  if (model.id == name) return true;
  for (const std::string& alias : model.aliases) {
    if (alias == name) return true;
  }
  return false;
}

Error not_listed(const ModelList& list, const std::string& wanted) {
  const auto ids = ids_of(list);
  std::string what = "model '" + wanted + "' is not served";
  if (const auto near = nearest(wanted, ids)) what += "; did you mean '" + *near + "'?";
  what += " (served: " + (ids.empty() ? "none" : join(ids, ", ")) + ")";
  if (list.answers_any_name) what += "; this server would answer under the wrong name";
  return {Errc::kUsage, what, "/v1/models"};
}

}  // namespace

Result<ModelList> parse_models(std::string_view body) {
  BK_ASSIGN(const Json doc, parse_json(body));
  if (!doc["data"].is_array()) return fail(Errc::kParse, "no 'data' array in the model list", "/v1/models");
  ModelList list;
  for (const Json& entry : doc["data"].items()) {
    const auto id = entry["id"].as_string();
    if (!id) return fail(Errc::kParse, "a listed model has no id", "/v1/models");
    if (entry["owned_by"].as_string() == "llamacpp") list.answers_any_name = true;
    list.models.push_back(read_model(entry, *id));
  }
  return list;
}

Result<ServedModel> choose_model(const ModelList& list, const std::string& wanted) {
  if (!wanted.empty()) {
    for (const ServedModel& model : list.models) {
      if (is_named(model, wanted)) return model;
    }
    return fail(not_listed(list, wanted));
  }
  std::vector<const ServedModel*> own;
  for (const ServedModel& model : list.models) {
    if (model.parent.empty()) own.push_back(&model);
  }
  if (own.empty()) return fail(Errc::kUnavailable, "the server lists no model", "/v1/models");
  if (own.size() > 1) {
    return fail(Errc::kUsage, "several models are served: " + join(ids_of(list), ", ") + "; name one with --model",
                "/v1/models");
  }
  return *own.front();
}

Result<ModelList> fetch_models(http::Transport& transport, const Endpoint& endpoint) {
  BK_ASSIGN(const http::Response response, http::fetch(transport, plain_request(endpoint, "/v1/models")));
  const std::string where = endpoint.base_url + "/v1/models";
  if (response.status == 404 || response.status == 405 || response.status == 501) {
    return fail(Errc::kUnavailable, fmt::format("the server lists no models (HTTP {})", response.status), where);
  }
  if (response.status == 401 || response.status == 403) {
    const char* what = endpoint.api_key.empty() ? "the server wants a key, from --api-key-env or --api-key-file"
                                                : "the server refuses the key";
    return fail(Errc::kEnvironment, fmt::format("{}: HTTP {}: {}", what, response.status, error_message(response.body)),
                where);
  }
  if (response.status < 200 || response.status > 299) {
    return fail(Errc::kHttp, fmt::format("HTTP {}: {}", response.status, error_message(response.body)), where);
  }
  auto list = parse_models(response.body);
  if (!list) return fail(Errc::kParse, "this is no OpenAI-compatible model list: " + list.error().what, where);
  return std::move(*list);
}

Result<ServedModel> resolve_model(http::Transport& transport, Endpoint& endpoint) {
  auto list = fetch_models(transport, endpoint);
  if (!list) {
    if (list.error().code != Errc::kUnavailable) return fail(list.error());
    if (endpoint.model.empty()) return fail(list.error().with("name the model with --model"));
    ServedModel believed;
    believed.id = endpoint.model;
    return believed;
  }
  auto chosen = choose_model(*list, endpoint.model);
  if (!chosen) {
    Error error = chosen.error();
    error.where = endpoint.base_url + "/v1/models";
    return fail(std::move(error));
  }
  endpoint.model = chosen->id;
  return std::move(*chosen);
}

}  // namespace bk::engine
