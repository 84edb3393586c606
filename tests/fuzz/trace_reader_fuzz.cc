// The first bytes choose how the rest is cut: what is read, or the error, must not depend on it. Of damaged gzip data
// the cut may decide how much is decoded before the damage is seen, but not whether it is. Then the first line is taken
// as events that were read before the rest.
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

/// Events that were read before must not change how later ones are read, nor whether they can be.
void check_memory(const std::string& known, const std::string& text) {
  constexpr std::size_t kNoCut = std::size_t(-1);
  const std::string one = events("[" + known + ",{}]", kNoCut, false, true);
  const auto end = one.find("end ");
  if (end == std::string::npos || one.find("error ") != std::string::npos) return;
  std::string before = "[", seen_before;
  for (int i = 0; i < 6; ++i) {
    before += known + ",";
    seen_before += one.substr(0, end);
  }
  const std::string alone = events("[" + text + "]", kNoCut, false, true);
  const std::string after = events(before + text + "]", kNoCut, false, true);
  if (alone.find("error ") == std::string::npos) BK_CHECK(after == seen_before + alone);
  if (alone.find("error ") != std::string::npos) BK_CHECK(after.find("error ") != std::string::npos);
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
  const std::size_t half = bytes.find('\n');
  if (half != std::string::npos) check_memory(bytes.substr(0, half), bytes.substr(half + 1));
  return 0;
}
