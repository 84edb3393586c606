#include "reader.h"

#include "base/check.h"
#include "base/clock.h"
#include "stream/chunk.h"
#include "stream/sse.h"

namespace bk::perf {
namespace {

constexpr std::size_t kEventBytes = 240;
constexpr std::size_t kReadBytes = 16 * 1024;
}  // namespace

std::string event_text() {
  const std::string head = "data: {\"id\":\"chatcmpl-";
  const std::string tail =
      "\",\"object\":\"chat.completion.chunk\",\"created\":1795973936,\"model\":\"deepseek-v4-flash\",\"choices\":"
      "[{\"index\":0,\"delta\":{\"content\":\" tok\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  return head + std::string(kEventBytes - head.size() - tail.size(), '0') + tail;
}

double reader_events_per_core_s(double cpu_s) {
  std::string text;
  for (std::size_t i = 0; i < kReadBytes; ++i) text += event_text();  // a whole number of reads and of events
  stream::SseParser parser;
  stream::ChunkReader reader;
  double events = 0;
  const Nanos start = process_cpu_now();
  while (to_s(process_cpu_now() - start) < cpu_s) {
    for (std::size_t at = 0; at < text.size(); at += kReadBytes) {
      parser.feed(std::string_view(text).substr(at, kReadBytes));
      while (const stream::SseEvent* event = parser.next()) {
        BK_CHECK(reader.read(event->data, event->readable_after).bears_tokens);
        ++events;
      }
    }
  }
  return events / to_s(process_cpu_now() - start);
}

}  // namespace bk::perf
