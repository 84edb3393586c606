#include "boot/readiness.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "engine/body.h"
#include "engine/models.h"

namespace bk::boot {
namespace {

constexpr Nanos kPause = 50 * kMillisecond;

/// Ready, not yet (the reason why), or never (an error).
struct Step {
  bool ready = false;
  std::string reason;
};

bool is_definite(int status) {
  return status >= 400 && status < 500 && status != 404 && status != 408 && status != 425 && status != 429;
}

/// One small chat, whole: text and a token count above zero make a generation.
Result<Step> try_generation(http::Transport& transport, const engine::Endpoint& endpoint, Nanos limit) {
  engine::Generation generation;
  generation.prompt = "Say hello.";
  generation.max_tokens = 4;
  generation.temperature = 0;
  generation.stream = false;
  const auto answer =
      http::fetch(transport, engine::make_request(endpoint, generation, {.connect = 2 * kSecond, .total = limit}));
  if (!answer) return Step{false, "the generation did not answer: " + answer.error().what};
  if (answer->status != 200) {
    const std::string what =
        fmt::format("the generation got HTTP {}: {}", answer->status, engine::error_message(answer->body));
    if (is_definite(answer->status)) return fail(Errc::kHttp, what, endpoint.base_url);
    return Step{false, what};
  }
  const auto body = parse_json(answer->body);
  if (!body) return Step{false, "the generation's answer is no JSON"};
  const auto& choices = (*body)["choices"].items();
  if (choices.empty()) return Step{false, "the generation's answer holds no choice"};
  const Json& message = choices.front()["message"];
  bool text = false;
  for (const char* member : {"content", "reasoning_content", "reasoning"}) {
    text = text || !message[member].as_string().value_or("").empty();
  }
  if (!text && (*body)["usage"]["completion_tokens"].as_int().value_or(0) < 1)
    return Step{false, "the generation came back empty"};
  return Step{true, ""};
}

Status check_context(const Profile& profile, const engine::ServedModel& served, const std::string& where) {
  if (!profile.max_model_len || !served.context_tokens || *served.context_tokens == *profile.max_model_len) return {};
  return fail(Errc::kMismatch,
              fmt::format("the engine serves {} with {} tokens of context, the profile says MAX_MODEL_LEN={}",
                          served.id, *served.context_tokens, *profile.max_model_len),
              where);
}

/// Every further name that clients use must be listed, as an id or as an alias of one.
Result<Step> check_aliases(http::Transport& transport, const Profile& profile, const engine::Endpoint& endpoint,
                           const std::string& model) {
  if (profile.served_aliases.empty()) return Step{true, ""};
  const auto list = engine::fetch_models(transport, endpoint);
  if (!list) return Step{false, list.error().what};
  for (const std::string& alias : profile.served_aliases) {
    const auto found = engine::choose_model(*list, alias);
    if (!found) {
      return fail(Errc::kMismatch, fmt::format("the engine serves {} but not its alias {}", model, alias),
                  endpoint.base_url);
    }
  }
  return Step{true, ""};
}

Result<Step> try_once(http::Transport& transport, const Profile& profile, Nanos limit, engine::Endpoint& endpoint) {
  engine::Endpoint asked = endpoint;
  asked.model = profile.served_model;
  const auto served = engine::resolve_model(transport, asked);
  if (!served && served.error().code == Errc::kUsage)
    return fail(Errc::kMismatch, served.error().what, endpoint.base_url);
  if (!served && served.error().code == Errc::kEnvironment) return fail(served.error());
  if (!served) return Step{false, served.error().what};
  BK_TRY(check_context(profile, *served, endpoint.base_url));
  BK_ASSIGN(Step listed, check_aliases(transport, profile, endpoint, served->id));
  if (!listed.ready) return listed;
  endpoint.model = asked.model;
  return try_generation(transport, endpoint, limit);
}

}  // namespace

Status wait_until_ready(http::Transport& transport, const Profile& profile, Nanos deadline,
                        const std::function<Status()>& check, engine::Endpoint& endpoint) {
  SystemClock clock;
  std::string reason = "nothing answered";
  while (true) {
    BK_TRY(check());
    const Nanos left = deadline - clock.now();
    if (left <= 0) {
      return fail(Errc::kTimeout,
                  fmt::format("no generation after READY_TIMEOUT_S={:g}: {}", profile.ready_timeout_s, reason),
                  endpoint.base_url);
    }
    const auto step = try_once(transport, profile, std::min(left, 300 * kSecond), endpoint);
    BK_TRY(check());  // an engine that died has the better reason
    if (!step) return fail(step.error());
    if (step->ready) return {};
    reason = step->reason;
    clock.sleep_until(clock.now() + kPause);
  }
}

}  // namespace bk::boot
