// The first bytes choose the cuts; the events of the rest must not depend on them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "stream/chunk.h"
#include "stream/sse.h"

namespace {

using namespace bk::stream;

constexpr std::size_t kLimit = 4096;

void drain(SseParser& parser, ChunkReader& reader, std::string& seen) {
  while (const SseEvent* event = parser.next()) {
    const Chunk& chunk = reader.read(event->data, event->readable_after);
    seen += event->kind == SseEvent::Kind::kEvent ? 'E' : 'S';
    seen.append(event->type).append("|").append(event->data).append("|").append(event->id).append("|");
    seen += std::to_string(static_cast<int>(chunk.kind)) + std::to_string(chunk.token_ids);
    seen.append(chunk.content).append("|").append(chunk.reasoning).append("|").append(chunk.tool_calls).append("|");
    seen.append(chunk.finish_reason).append(chunk.error).append("\n");
  }
}

// Pieces lie in blocks of their own, so that a read outside one is seen.
std::string events(const std::uint8_t* data, std::size_t size, std::size_t step_a, std::size_t step_b) {
  SseParser parser(kLimit);
  ChunkReader reader;
  std::string seen;
  bool odd = false;
  for (std::size_t at = 0; at < size; odd = !odd) {
    const std::size_t step = std::min(odd ? step_b : step_a, size - at);
    const std::vector<char> piece(data + at, data + at + step);
    parser.feed({piece.data(), piece.size()});
    drain(parser, reader, seen);
    at += step;
  }
  parser.finish();
  drain(parser, reader, seen);
  return seen + (parser.overflowed() ? "overflow" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string whole = events(data + 2, size - 2, size, size);
  BK_CHECK(whole == events(data + 2, size - 2, data[0] % 64 + 1U, data[1] + 1U));
  return 0;
}
