#include "store/event_codec.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace bk;
using namespace bk::store;

TEST_CASE("events come back whole, also backwards in time and at the limits") {
  std::vector<EventRow> many;
  for (int i = 0; i < 20'000; ++i) many.push_back({i * 42'000'017LL, i % 9 - 1});
  const std::vector<std::vector<EventRow>> cases = {
      {},
      {{0, 0}},
      {{5, -1}, {3, 2}, {-7, 1}},
      {{std::numeric_limits<Nanos>::max(), std::numeric_limits<std::int32_t>::max()},
       {0, std::numeric_limits<std::int32_t>::min()}},
      many,
  };
  for (const auto& events : cases) {
    const std::string blob = encode_events(events).value();
    CHECK(decode_events(blob).value() == events);
  }
  CHECK(encode_events(many).value().size() < many.size() * 2);
}

TEST_CASE("a damaged blob is an error, never events") {
  const std::string blob = encode_events({{1'000, 1}, {2'000, 3}, {9'000, -1}}).value();
  for (std::size_t cut = 0; cut < blob.size(); ++cut) CHECK_FALSE(decode_events(blob.substr(0, cut)));
  for (std::size_t at = 0; at < blob.size(); ++at) {
    std::string bad = blob;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    const auto events = decode_events(bad);
    INFO("byte " << at);
    // zlib's window bits may differ without changing the content.
    if (events) CHECK(*events == decode_events(blob).value());
  }
  CHECK_FALSE(decode_events(std::string("\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10)));
}
