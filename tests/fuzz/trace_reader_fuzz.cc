// The first bytes choose how the rest is cut: what is read, or the error, must not depend on it. Of damaged gzip data
// the cut may decide how much is decoded before the damage is seen, but not whether it is.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "trace/reader.h"

namespace {

using namespace bk::trace;

std::string events(const std::string& bytes, std::size_t piece, bool repair, bool all) {
  Reader reader(decoded_source(memory_source(bytes, piece)), {repair, all});
  std::string seen;
  for (Event event;;) {
    const auto more = reader.next(event);
    if (!more) return seen + "error " + more.error().text();
    if (!*more) return seen + "end " + std::to_string(reader.counts().lost);
    seen.append(event.name).append("|").append(event.stream).append("|").append(std::to_string(event.ts_ns));
    seen.append("+").append(std::to_string(event.dur_ns)).append("\n");
    BK_CHECK(all || event.dur_ns >= 0);
  }
}

bool failed(const std::string& seen) { return seen.find("error ") != std::string::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool repair = (data[0] & 1) != 0, all = (data[0] & 2) != 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = events(bytes, size, repair, all), cut = events(bytes, data[1] + 1U, repair, all);
  const bool damaged_gzip = bytes.starts_with("\x1f\x8b") && failed(whole) && failed(cut);
  BK_CHECK(damaged_gzip || whole == cut);
  return 0;
}
