#include "gen_request.h"

#include <fmt/format.h>

namespace bk::sim {
namespace {

std::string content_text(const Json& content) {
  if (const auto text = content.as_string()) return *text;
  std::string joined;
  for (const Json& part : content.items()) joined += part["text"].as_string().value_or("");
  return joined;
}

ApiError bad_request(std::string message, Json param = {}) {
  return {400, std::move(message), "BadRequestError", std::move(param)};
}

void read_switches(const Json& doc, GenRequest& r) {
  r.stream = doc["stream"].as_bool().value_or(false);
  r.include_usage = doc["stream_options"]["include_usage"].as_bool().value_or(false);
  r.continuous_usage = doc["stream_options"]["continuous_usage_stats"].as_bool().value_or(false);
  r.token_ids = doc["return_token_ids"].as_bool().value_or(false);
  r.ignore_eos = doc["ignore_eos"].as_bool().value_or(false);
  const Json& template_arguments = doc["chat_template_kwargs"];
  r.thinking =
      template_arguments["thinking"].as_bool().value_or(template_arguments["enable_thinking"].as_bool().value_or(true));
  r.temperature = doc["temperature"].as_double().value_or(0.8);
  r.seed = doc["seed"].as_int();
  r.min_tokens = doc["min_tokens"].as_int().value_or(0);
}

bool read_prompt(const Json& doc, const Tokenizer& tokenizer, GenRequest& r, ApiError& error) {
  if (r.chat) {
    const Json& messages = doc["messages"];
    if (messages.items().empty()) {
      error = {400, "1 validation error:\n  {'type': 'missing', 'loc': ('body', 'messages'), 'msg': 'Field required'}",
               "Bad Request", Json("body.messages")};
      return false;
    }
    for (const Json& message : messages.items()) {
      if (message["role"].as_string() == "user") r.question = content_text(message["content"]);
    }
    r.prompt = render_messages(messages, true);
  } else if (!doc["prompt"].items().empty()) {
    for (const Json& id : doc["prompt"].items())
      r.prompt_ids.push_back(static_cast<std::int32_t>(id.as_int().value_or(-1)));
    r.prompt = r.question = tokenizer.decode(r.prompt_ids);
    return true;
  } else if (const auto text = doc["prompt"].as_string(); text && !text->empty()) {
    r.prompt = r.question = *text;
  } else {
    error = bad_request("Either prompt or prompt_embeds must be provided and non-empty.");
    return false;
  }
  r.prompt_ids = tokenizer.encode(r.prompt);
  return true;
}

bool check_lengths(const Json& doc, const ModelLimits& limits, GenRequest& r, ApiError& error) {
  const auto prompt = static_cast<std::int64_t>(r.prompt_ids.size());
  const Json& asked = doc["max_completion_tokens"].is_null() ? doc["max_tokens"] : doc["max_completion_tokens"];
  const std::int64_t room = std::min(limits.max_model_len, limits.kv_tokens) - prompt;
  const std::int64_t fallback = r.chat ? std::max<std::int64_t>(room, 1) : 16;
  r.max_tokens = asked.as_int().value_or(fallback);
  r.n = static_cast<int>(doc["n"].as_int().value_or(1));
  if (r.max_tokens < 1) {
    error = bad_request(fmt::format("max_tokens must be at least 1, got {}.", r.max_tokens), Json("max_tokens"));
  } else if (r.n < 1 || r.n > 64) {
    error = bad_request(fmt::format("n must be at least 1 and at most 64, got {}.", r.n), Json("n"));
  } else if (r.min_tokens > r.max_tokens) {
    error = bad_request(
        fmt::format("min_tokens must be less than or equal to max_tokens={}, got {}.", r.max_tokens, r.min_tokens));
  } else if (r.max_tokens > room) {
    error = bad_request(
        fmt::format("This model's maximum context length is {} tokens. However, you requested {} output tokens "
                    "and your prompt contains {} input tokens, for a total of {} tokens. Please reduce the length "
                    "of the input prompt or the number of requested output tokens. (parameter=input_tokens, value={})",
                    limits.max_model_len, r.max_tokens, prompt, prompt + r.max_tokens, prompt),
        Json("input_tokens"));
  } else {
    return true;
  }
  return false;
}

}  // namespace

std::string ApiError::body() const {
  Json inner = Json::object();
  inner.set("message", message).set("type", type).set("param", param).set("code", status);
  return Json::object().set("error", inner).dump();
}

std::string render_messages(const Json& messages, bool generation) {
  std::string text;
  for (const Json& message : messages.items()) {
    text += message["role"].as_string().value_or("user");
    text += ": ";
    text += content_text(message["content"]);
    text += '\n';
  }
  if (generation) text += "assistant:";
  return text;
}

std::optional<GenRequest> parse_gen_request(std::string_view body, bool chat, const Tokenizer& tokenizer,
                                            const ModelLimits& limits, ApiError& error) {
  const auto doc = parse_json(body);
  if (!doc || !doc->is_object()) {
    error = {
        400,
        "1 validation error:\n  {'type': 'json_invalid', 'loc': ('body', 1), 'msg': 'JSON decode error', 'input': {}}",
        "Bad Request", Json("body.1")};
    return std::nullopt;
  }
  if (const auto model = (*doc)["model"].as_string(); model && *model != limits.model) {
    error = {404, fmt::format("The model `{}` does not exist.", *model), "NotFoundError", Json("model")};
    return std::nullopt;
  }
  GenRequest request;
  request.chat = chat;
  read_switches(*doc, request);
  if (!read_prompt(*doc, tokenizer, request, error) || !check_lengths(*doc, limits, request, error))
    return std::nullopt;
  return request;
}

}  // namespace bk::sim
