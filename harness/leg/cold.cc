#include "leg/cold.h"

#include <fmt/format.h>

namespace bk::leg {

bool note_cached(load::Sample* sample, Sink& sink) {
  const stream::RequestRecord& record = sample->requests.front();
  const auto cached = record.usage ? record.usage->cached_tokens : std::nullopt;
  sample->metrics["cached_tokens"] =
      cached ? stream::Figure::of(static_cast<double>(*cached)) : stream::Figure::none("not_reported");
  if (cached.value_or(0) <= 0) return false;
  if (!sample->warmup) {
    sink.warn(fmt::format("{} of {} prompt tokens came from the server's prefix cache: not a cold prompt", *cached,
                          record.usage->prompt_tokens.value_or(0)));
  }
  return true;
}

void refuse_warm(load::Sample* sample) {
  for (auto& [name, figure] : sample->metrics) {
    if (name != "cached_tokens") figure = stream::Figure::none("warm_prefix_cache");
  }
}

std::string tokens_label(std::int64_t tokens) {
  constexpr std::int64_t kKilo = 1024;
  return tokens % kKilo == 0 && tokens > 0 ? fmt::format("{}K", tokens / kKilo) : std::to_string(tokens);
}

}  // namespace bk::leg
