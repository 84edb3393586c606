#include "bodies.h"

#include <utility>

namespace bk::benchy {
namespace {

Json messages(const std::string& system, const std::string& user) {
  Json list = Json::array();
  if (!system.empty()) list.push(Json::object().set("role", "system").set("content", system));
  return list.push(Json::object().set("role", "user").set("content", user));
}

Json head(const std::string& model, Json list, int tokens) {
  return Json::object().set("model", model).set("messages", std::move(list)).set("max_tokens", tokens);
}

}  // namespace

std::string warmup_text() {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "Warmup ";
  return text;
}

Json warmup_body(const std::string& model, bool with_system) {
  return head(model, with_system ? messages(warmup_text(), ".") : messages("", warmup_text()), 1);
}

Json coherence_body(const std::string& model) {
  return head(model, messages("", "What is the capital of France? Please reply with one word only"), 100);
}

Json latency_body(const std::string& model) { return head(model, messages("", "hello"), 1).set("stream", true); }

Json bench_body(const std::string& model, const std::string& system, const std::string& user, int tokens,
                const BodyOptions& options) {
  Json body = head(model, messages(system, user), tokens);
  body.set("stream", true).set("return_token_ids", true);
  body.set("stream_options", Json::object().set("include_usage", true));
  if (options.no_cache) body.set("cache_prompt", false);
  for (const auto& [key, value] : options.extra_body.members()) body.set(key, value);
  if (options.exact_tg) body.set("min_tokens", tokens).set("ignore_eos", true);
  return body;
}

}  // namespace bk::benchy
