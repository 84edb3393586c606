// Any bytes, cut anywhere, under any end: a record whose figures are finite or carry a reason.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "stream/timeline.h"

namespace {

using namespace bk;
using namespace bk::stream;

void check_figure(const Figure& figure) {
  BK_CHECK(figure.value.has_value() == figure.reason.empty());
  BK_CHECK(!figure.value || (std::isfinite(*figure.value) && *figure.value > 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  constexpr int kStatus[] = {200, 200, 200, 0, 429};
  constexpr const char* kTypes[] = {"text/event-stream", "application/json", ""};
  Timeline timeline({data[2] % 2 == 0 ? std::optional<std::int64_t>(data[2]) : std::nullopt, data[2] % 3 != 0});
  timeline.sent(1000, data[0], data[1] % 2 == 0);
  if (kStatus[data[0] % 5] != 0) timeline.headers(kStatus[data[0] % 5], kTypes[data[1] % 3], 1100);
  Nanos now = 1200;
  const std::size_t step = data[3] + 1U;
  for (std::size_t at = 4; at < size; at += step) {
    const std::vector<char> piece(data + at, data + std::min(size, at + step));
    timeline.bytes({piece.data(), piece.size()}, now);
    now += data[1] % 4;
  }
  const auto kind = static_cast<StreamEnd::Kind>(data[1] % 6);
  const RequestRecord record = timeline.finish({kind, {}, now});
  BK_CHECK(record.ok() == record.reason.empty());
  for (const Figure* figure : {&record.decode_tok_s, &record.decode_tok_s_n_minus_1, &record.tpot_ms,
                               &record.prefill_tok_s, &record.e2e_tok_s}) {
    check_figure(*figure);
  }
  for (std::size_t i = 1; i < record.events.size(); ++i) BK_CHECK(record.events[i - 1].at <= record.events[i].at);
  return 0;
}
