#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "engine/counters.h"
#include "engine/metrics_page.h"

/// Any bytes are a page or an error that names its reason; counters of a page compared with themselves never move.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto page = bk::engine::parse_metrics({reinterpret_cast<const char*>(data), size});
  if (!page) {
    BK_CHECK(page.error().code == bk::Errc::kParse && !page.error().what.empty());
    return 0;
  }
  BK_CHECK(!page->samples.empty());
  const bk::engine::Counters counters = bk::engine::read_counters(*page);
  const auto continuity = bk::engine::continuity_between(counters, counters);
  BK_CHECK(continuity.unbroken());
  BK_CHECK(!bk::engine::acceptance_between(counters, counters).value);
  return 0;
}
