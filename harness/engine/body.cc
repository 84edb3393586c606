#include "engine/body.h"

#include <utility>

#include "base/text.h"

namespace bk::engine {
namespace {

constexpr std::size_t kMessageLimit_bytes = 300;

void add_stream_fields(const Generation& generation, Json& body) {
  body.set("stream", generation.stream);
  if (!generation.stream) return;
  if (generation.include_usage) {
    Json options = Json::object();
    options.set("include_usage", true);
    if (generation.per_event_counts) options.set("continuous_usage_stats", true);
    body.set("stream_options", std::move(options));
  }
  if (generation.per_event_counts) body.set("return_token_ids", true);
}

void add_length_fields(const Generation& generation, Json& body) {
  if (generation.max_tokens) body.set("max_tokens", *generation.max_tokens);
  if (!generation.ignore_eos) return;
  body.set("ignore_eos", true);
  if (generation.max_tokens) body.set("min_tokens", *generation.max_tokens);
}

void add_prompt(const Generation& generation, Json& body) {
  if (generation.api == Api::kCompletions) {
    body.set("prompt", generation.prompt);
    return;
  }
  Json message = Json::object();
  message.set("role", "user").set("content", generation.prompt);
  body.set("messages", Json::array().push(std::move(message)));
  if (generation.thinking_off) {
    body.set("chat_template_kwargs", Json::object().set("thinking", false));
  }
}

void add_endpoint_headers(const Endpoint& endpoint, http::Request& request) {
  for (const auto& header : endpoint.headers) request.headers.push_back(header);
  if (!endpoint.api_key.empty()) request.headers.emplace_back("Authorization", "Bearer " + endpoint.api_key);
}

std::string shortened(std::string_view text) {
  std::string line(trim(text));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (line.size() <= kMessageLimit_bytes) return line;
  std::size_t end = kMessageLimit_bytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

}  // namespace

const char* path_of(Api api) { return api == Api::kChat ? "/v1/chat/completions" : "/v1/completions"; }

Json make_body(const Endpoint& endpoint, const Generation& generation) {
  Json body = Json::object();
  if (!endpoint.model.empty()) body.set("model", endpoint.model);
  add_prompt(generation, body);
  add_length_fields(generation, body);
  if (generation.temperature) body.set("temperature", *generation.temperature);
  if (generation.seed) body.set("seed", *generation.seed);
  add_stream_fields(generation, body);
  for (const auto& [key, value] : endpoint.extra_body.members()) body.set(key, value);
  return body;
}

http::Request make_request(const Endpoint& endpoint, const Generation& generation, const http::Timeouts& timeouts) {
  http::Request request;
  request.url = endpoint.base_url + path_of(generation.api);
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Accept", generation.stream ? "text/event-stream" : "application/json");
  add_endpoint_headers(endpoint, request);
  request.body = make_body(endpoint, generation).dump();
  request.timeouts = timeouts;
  if (request.timeouts.idle == 0) request.timeouts.idle = kLongestSilence;
  return request;
}

http::Request plain_request(const Endpoint& endpoint, std::string_view path, const Json& body,
                            const http::Timeouts& timeouts) {
  http::Request request;
  request.method = body.is_null() ? "GET" : "POST";
  request.url = endpoint.base_url + std::string(path);
  if (!body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = body.dump();
  }
  add_endpoint_headers(endpoint, request);
  request.timeouts = timeouts;
  return request;
}

std::string normal_base_url(std::string_view url) {
  const auto without_slashes = [](std::string_view text) {
    while (!text.empty() && text.back() == '/') text.remove_suffix(1);
    return text;
  };
  std::string_view base = without_slashes(trim(url));
  if (base.size() >= 3 && base.substr(base.size() - 3) == "/v1")
    base = without_slashes(base.substr(0, base.size() - 3));
  return std::string(base);
}

std::string error_message(std::string_view body) {
  if (const auto doc = parse_json(body)) {
    for (const Json* message : {&(*doc)["error"]["message"], &(*doc)["error"], &(*doc)["message"], &(*doc)["detail"]}) {
      if (const auto text = message->as_string()) return shortened(*text);
    }
    if (!(*doc)["detail"].is_null()) return shortened((*doc)["detail"].dump());
  }
  const auto lines = split_lines(trim(body));
  return lines.empty() ? std::string() : shortened(lines.front());
}

}  // namespace bk::engine
