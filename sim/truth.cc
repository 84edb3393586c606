#include "truth.h"

#include <fmt/format.h>

#include <iterator>

namespace bk::sim {

TruthRecord& Truth::add(std::string id, std::string path, Nanos arrived, Nanos received) {
  constexpr std::size_t kKept = 50'000;
  auto record = std::make_shared<TruthRecord>();
  record->index = next_index_++;
  record->id = std::move(id);
  record->path = std::move(path);
  record->arrived = arrived;
  record->received = received;
  while (records_.size() >= kKept && records_.front()->outcome != "running") records_.pop_front();
  records_.push_back(std::move(record));
  return *records_.back();
}

std::string Truth::to_json(const Json& head, std::int64_t since) const {
  std::string text = head.dump();
  text.pop_back();
  text += text.size() > 1 ? ",\"requests\":[" : "\"requests\":[";
  auto out = std::back_inserter(text);
  const char* separator = "";
  for (const auto& r : records_) {
    if (r->index < since) continue;
    fmt::format_to(
        out,
        "{}{{\"index\":{},\"id\":{},\"path\":{},\"client_request_id\":{},\"outcome\":{},\"arrived_ns\":{},"
        "\"received_ns\":{},"
        "\"head_sent_ns\":{},\"end_ns\":{},\"prompt_tokens\":{},\"cached_tokens\":{},\"completion_tokens\":{},"
        "\"events\":[",
        separator, r->index, Json(r->id).dump(), Json(r->path).dump(), Json(r->client_request_id).dump(),
        Json(r->outcome).dump(), r->arrived, r->received, r->head_sent, r->end == 0 ? "null" : std::to_string(r->end),
        r->prompt_tokens, r->cached_tokens, r->completion_tokens);
    const char* comma = "";
    for (const SentEvent& e : r->events) {
      fmt::format_to(out, "{}[{},{}]", comma, e.at, e.tokens);
      comma = ",";
    }
    text += "]}";
    separator = ",";
  }
  return text + "]}\n";
}

}  // namespace bk::sim
