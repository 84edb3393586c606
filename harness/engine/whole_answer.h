#pragma once
#include "base/json.h"
#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"

namespace bk::engine {

/// Sends a request that is not to be streamed, and waits for the document that answers it. Errors name the endpoint:
/// kHttp with the status and the server's words, kServer for an error inside a 200, kParse for what is no JSON, and
/// those of http::fetch.
[[nodiscard]] Result<Json> whole_answer(http::Transport& transport, const Endpoint& endpoint, http::Request request);

}  // namespace bk::engine
