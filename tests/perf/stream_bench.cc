// What the stream reader costs: events a second on one core, over a chat stream of 240-byte events.
#include <benchmark/benchmark.h>

#include <string>

#include "stream/chunk.h"
#include "stream/sse.h"
#include "stream/timeline.h"

namespace {

using namespace bk;
using namespace bk::stream;

constexpr std::size_t kEventBytes = 240;

// One event as vLLM writes it, padded by its id to exactly 240 bytes with its blank line.
std::string event_text(int i) {
  const std::string head = "data: {\"id\":\"chatcmpl-";
  const std::string tail =
      "\",\"object\":\"chat.completion.chunk\",\"created\":1795973936,\"model\":\"deepseek-v4\",\"choices\":"
      "[{\"index\":0,\"delta\":{\"content\":\" w" +
      std::to_string(i % 10) + "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  return head + std::string(kEventBytes - head.size() - tail.size(), 'a') + tail;
}

std::string stream_text(int events) {
  std::string text;
  for (int i = 0; i < events; ++i) text += event_text(i);
  return text;
}

void count(benchmark::State& state, std::int64_t events) {
  state.SetItemsProcessed(events);
  state.SetBytesProcessed(events * static_cast<std::int64_t>(kEventBytes));
}

// The argument is the number of events in one read.
void sse_only(benchmark::State& state) {
  const std::string text = stream_text(static_cast<int>(state.range(0)));
  SseParser parser;
  std::int64_t events = 0;
  for (auto _ : state) {
    parser.feed(text);
    while (const SseEvent* event = parser.next()) {
      benchmark::DoNotOptimize(event->data.data());
      ++events;
    }
  }
  count(state, events);
}
BENCHMARK(sse_only)->Arg(1)->Arg(64);

void sse_and_chunk(benchmark::State& state) {
  const std::string text = stream_text(static_cast<int>(state.range(0)));
  SseParser parser;
  ChunkReader reader;
  std::int64_t events = 0;
  for (auto _ : state) {
    parser.feed(text);
    while (const SseEvent* event = parser.next()) {
      benchmark::DoNotOptimize(reader.read(event->data, event->readable_after).content.data());
      ++events;
    }
  }
  count(state, events);
}
BENCHMARK(sse_and_chunk)->Arg(1)->Arg(64);

void whole_timeline(benchmark::State& state) {
  const std::string text = stream_text(static_cast<int>(state.range(0)));
  constexpr int kReads = 1000;
  std::int64_t events = 0;
  for (auto _ : state) {
    Timeline timeline;
    timeline.sent(0, 0, true);
    timeline.headers(200, "text/event-stream", 1);
    for (int read = 0; read < kReads; ++read) timeline.bytes(text, read);
    events += static_cast<std::int64_t>(timeline.finish({StreamEnd::Kind::kComplete, {}, kReads}).events.size());
  }
  count(state, events);
}
BENCHMARK(whole_timeline)->Arg(1)->Arg(64);

}  // namespace
