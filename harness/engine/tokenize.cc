#include "engine/tokenize.h"

#include <utility>

#include "engine/body.h"

namespace bk::engine {
namespace {

constexpr Nanos kLimit = 60 * kSecond;  // a long prompt takes a slow server seconds to tokenise

Result<Json> post(http::Transport& transport, const Endpoint& endpoint, const char* path, const Json& body) {
  http::Timeouts timeouts;
  timeouts.total = kLimit;
  BK_ASSIGN(const http::Response response, http::fetch(transport, plain_request(endpoint, path, body, timeouts)));
  const std::string where = endpoint.base_url + path;
  if (response.status == 404 || response.status == 405 || response.status == 501) {
    return fail(Errc::kUnavailable, fmt::format("the server has no {} (HTTP {})", path, response.status), where);
  }
  if (response.status < 200 || response.status > 299) {
    return fail(Errc::kHttp, fmt::format("HTTP {}: {}", response.status, error_message(response.body)), where);
  }
  auto doc = parse_json(response.body);
  if (!doc) return fail(Errc::kUnavailable, fmt::format("{} did not answer with JSON", path), where);
  return std::move(*doc);
}

Json vllm_body(const Endpoint& endpoint) {
  Json body = Json::object();
  if (!endpoint.model.empty()) body.set("model", endpoint.model);
  return body;
}

Json text_body(const Endpoint& endpoint, TokenizeShape shape, std::string_view text) {
  if (shape == TokenizeShape::kLlamaCpp) return Json::object().set("content", text).set("add_special", false);
  return vllm_body(endpoint).set("prompt", text).set("add_special_tokens", false);
}

/// llama.cpp answers a body without "content" with an empty list, so only a non-empty text tells the shapes apart.
bool knows(const Json& answer, TokenizeShape shape) {
  if (!answer["tokens"].is_array() || answer["tokens"].items().empty()) return false;
  return shape == TokenizeShape::kLlamaCpp || answer["count"].as_int().has_value();
}

/// llama.cpp gives plain ids, or {"id": …} when pieces were asked for.
std::optional<std::int64_t> token_id(const Json& token) {
  return token.is_object() ? token["id"].as_int() : token.as_int();
}

Result<std::int64_t> count_in(const Json& answer, const Endpoint& endpoint) {
  if (const auto count = answer["count"].as_int()) return *count;
  if (!answer["tokens"].is_array()) {
    return fail(Errc::kParse, "neither 'count' nor 'tokens' in the answer", endpoint.base_url + "/tokenize");
  }
  return static_cast<std::int64_t>(answer["tokens"].items().size());
}

}  // namespace

Result<Tokenizer> Tokenizer::detect(http::Transport& transport, const Endpoint& endpoint) {
  std::string last = "unknown answer";
  for (const TokenizeShape shape : {TokenizeShape::kVllm, TokenizeShape::kLlamaCpp}) {
    auto answer = post(transport, endpoint, "/tokenize", text_body(endpoint, shape, "one two"));
    if (answer && knows(*answer, shape)) return Tokenizer(transport, endpoint, shape);
    if (!answer) {
      const Errc code = answer.error().code;
      if (code != Errc::kHttp) return fail(answer.error());
      last = answer.error().what;
    }
  }
  return fail(Errc::kUnavailable, "/tokenize answers in no known shape: " + last, endpoint.base_url + "/tokenize");
}

Result<std::int64_t> Tokenizer::count(std::string_view text) const {
  BK_ASSIGN(const Json answer, post(*transport_, *endpoint_, "/tokenize", text_body(*endpoint_, shape_, text)));
  return count_in(answer, *endpoint_);
}

Result<std::vector<std::int64_t>> Tokenizer::tokens(std::string_view text) const {
  BK_ASSIGN(const Json answer, post(*transport_, *endpoint_, "/tokenize", text_body(*endpoint_, shape_, text)));
  std::vector<std::int64_t> ids;
  for (const Json& token : answer["tokens"].items()) {
    const auto id = token_id(token);
    if (!id) return fail(Errc::kParse, "a token that is not a number", endpoint_->base_url + "/tokenize");
    ids.push_back(*id);
  }
  return ids;
}

Result<std::int64_t> Tokenizer::count_chat(std::string_view message, bool thinking_off) const {
  Json user = Json::object();
  user.set("role", "user").set("content", message);
  Json messages = Json::array();
  messages.push(std::move(user));
  Json body = shape_ == TokenizeShape::kVllm ? vllm_body(*endpoint_) : Json::object();
  body.set("messages", std::move(messages));
  if (thinking_off) body.set("chat_template_kwargs", Json::object().set("thinking", false));
  if (shape_ == TokenizeShape::kVllm) {
    body.set("add_generation_prompt", true);
    BK_ASSIGN(const Json answer, post(*transport_, *endpoint_, "/tokenize", body));
    return count_in(answer, *endpoint_);
  }
  BK_ASSIGN(const Json applied, post(*transport_, *endpoint_, "/apply-template", body));
  const auto prompt = applied["prompt"].as_string();
  if (!prompt) return fail(Errc::kUnavailable, "no 'prompt' in the answer", endpoint_->base_url + "/apply-template");
  const Json special = Json::object().set("content", *prompt).set("add_special", true).set("parse_special", true);
  BK_ASSIGN(const Json answer, post(*transport_, *endpoint_, "/tokenize", special));
  return count_in(answer, *endpoint_);
}

}  // namespace bk::engine
