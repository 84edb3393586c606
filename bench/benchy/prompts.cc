#include "prompts.h"

#include <fmt/format.h>

#include <cmath>

#include "bodies.h"
#include "engine/body.h"
#include "engine/whole_answer.h"
#include "load/prompts.h"

namespace bk::benchy {
namespace {

constexpr std::int64_t kCalibrationWords[2] = {60, 400};
constexpr int kAttempts = 4;
constexpr std::int64_t kUuidTokens = 24;  // where no tokenizer can tell

Json one_token_body(const std::string& model, const std::string& text) {
  Json body = warmup_body(model, false);
  return body.set("messages", Json::array().push(Json::object().set("role", "user").set("content", text)));
}

std::int64_t prompt_tokens_in(const Json& answer) { return answer["usage"]["prompt_tokens"].as_int().value_or(-1); }

}  // namespace

Result<Json> post_chat(http::Transport& transport, const engine::Endpoint& endpoint, const Json& body) {
  const http::Timeouts timeouts{.total = 600 * kSecond};
  return engine::whole_answer(transport, endpoint,
                              engine::plain_request(endpoint, engine::path_of(engine::Api::kChat), body, timeouts));
}

Result<PromptMaker> PromptMaker::make(http::Transport& transport, const engine::Endpoint& endpoint,
                                      std::optional<load::TokenizerJson> file, bool adapt, std::uint64_t seed) {
  PromptMaker maker(transport, endpoint, seed);
  maker.file_ = std::move(file);
  if (!maker.file_) {
    auto tokenizer = engine::Tokenizer::detect(transport, endpoint);
    if (tokenizer) maker.tokenizer_ = *tokenizer;
  }
  BK_TRY(maker.learn(adapt));
  return maker;
}

Status PromptMaker::learn(bool adapt) {
  BK_ASSIGN(const Json user, post_chat(*transport_, *endpoint_, warmup_body(endpoint_->model, false)));
  BK_ASSIGN(const Json context, post_chat(*transport_, *endpoint_, warmup_body(endpoint_->model, true)));
  if (!counts()) return calibrate(prompt_tokens_in(user));
  if (!adapt || prompt_tokens_in(user) < 0 || prompt_tokens_in(context) < 0) return {};
  BK_ASSIGN(const std::int64_t local, count(warmup_text()));
  delta_user_ = prompt_tokens_in(user) - local;
  delta_context_ = prompt_tokens_in(context) - local;
  return {};
}

Status PromptMaker::calibrate(std::int64_t warmup_tokens) {
  if (warmup_tokens < 0) {
    return fail(Errc::kUnavailable, "the server has neither /tokenize nor usage: prompts cannot be sized",
                endpoint_->base_url);
  }
  std::int64_t counted[2];
  for (int i = 0; i < 2; ++i) {
    load::Random words(1);
    const std::string text = load::nonce(1) + load::filler(load::Vocabulary::kEnglish20, kCalibrationWords[i], words);
    BK_ASSIGN(const Json answer, post_chat(*transport_, *endpoint_, one_token_body(endpoint_->model, text)));
    counted[i] = prompt_tokens_in(answer);
  }
  BK_ASSIGN(calibration_, load::calibrate(kCalibrationWords[0], counted[0], kCalibrationWords[1], counted[1]));
  return {};
}

const char* PromptMaker::sized_by() const { return file_ ? "tokenizer.json" : tokenizer_ ? "tokenize" : "usage"; }

Result<std::int64_t> PromptMaker::count(const std::string& text) const {
  return file_ ? file_->count(text) : tokenizer_->count(text);
}

Result<std::string> PromptMaker::text(std::int64_t tokens) {
  load::SizeRequest request;
  request.tokens = tokens;
  load::SizedPrompt best;
  // Some words meet no size exactly, where the tokenizer joins their ends: others do.
  for (int attempt = 0; attempt < kAttempts && counts() && !best.exact; ++attempt) {
    request.seed = random_.next();
    BK_ASSIGN(load::SizedPrompt sized,
              load::sized_prompt(request, [this](const std::string& prompt) { return count(prompt); }));
    if (sized.exact || sized.tokens > best.tokens) best = std::move(sized);
  }
  if (counts()) return best.text;
  request.seed = random_.next();
  return load::nonce(request.seed) +
         load::filler(load::Vocabulary::kEnglish20, calibration_.words_for(tokens), random_);
}

Result<std::pair<std::string, std::int64_t>> PromptMaker::unique_suffix() {
  const std::uint64_t high = (random_.next() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (random_.next() >> 2) | (1ULL << 63);
  const std::string suffix = fmt::format(" {:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                                         high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFFULL);
  if (!counts()) return std::pair(suffix, kUuidTokens);
  BK_ASSIGN(const std::int64_t tokens, count(suffix));
  return std::pair(suffix, tokens);
}

}  // namespace bk::benchy
