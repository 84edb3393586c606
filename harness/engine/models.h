#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"

namespace bk::engine {

struct ServedModel {
  std::string id;
  std::vector<std::string> aliases;
  std::string parent;                          ///< base model of an adapter; empty: a model of its own
  std::optional<std::int64_t> context_tokens;  ///< max_model_len, or llama.cpp's meta.n_ctx
};

struct ModelList {
  std::vector<ServedModel> models;
  bool answers_any_name = false;  ///< llama.cpp: a wrong name is served as well, so only the list can tell
};

/// The body of GET /v1/models. kParse when it is no such list.
[[nodiscard]] Result<ModelList> parse_models(std::string_view body);

/// The listed id that `wanted` means (by id or alias); empty `wanted`: the only model (adapters aside).
/// kUsage, listing what is served and the nearest name, when it is not listed or several could be meant.
[[nodiscard]] Result<ServedModel> choose_model(const ModelList& list, const std::string& wanted);

/// GET /v1/models. kUnavailable when the server has no such route; kEnvironment when it refuses the key; kConnect,
/// kTimeout, kHttp otherwise.
[[nodiscard]] Result<ModelList> fetch_models(http::Transport& transport, const Endpoint& endpoint);

/// Sets endpoint.model to a served id and gives what the server says of it. A server without /v1/models is believed
/// when a model is named, and refused (kUnavailable) when none is.
[[nodiscard]] Result<ServedModel> resolve_model(http::Transport& transport, Endpoint& endpoint);

}  // namespace bk::engine
