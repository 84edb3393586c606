#include "common/number_formats.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace bk::kernels {
namespace {

TEST_CASE("bf16 rounds to nearest, ties to even") {
  CHECK(to_bf16(1.0f) == 0x3f80);
  CHECK(to_bf16(-2.0f) == 0xc000);
  CHECK(to_bf16(1.0f + 0x1p-8f) == 0x3f80);    // a tie, down to even
  CHECK(to_bf16(1.0f + 0x1.8p-7f) == 0x3f82);  // a tie, up to even
  CHECK(to_bf16(0x1.010002p0f) == 0x3f81);     // just over the tie
  CHECK(to_bf16(3.4e38f) == 0x7f80);           // past the largest: infinity
  CHECK(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(from_bf16(0x0001) == 0x1p-133f);
}

TEST_CASE("E4M3 numbers survive the way there and back") {
  for (int byte = 0; byte < 256; ++byte) {
    if ((byte & 0x7f) == 0x7f) {
      CHECK(std::isnan(from_e4m3(static_cast<std::uint8_t>(byte))));
      continue;
    }
    CHECK(to_e4m3(from_e4m3(static_cast<std::uint8_t>(byte))) == byte);
  }
  CHECK(from_e4m3(0x7e) == 448);
  CHECK(from_e4m3(0x01) == 0x1p-9);
  CHECK(from_e4m3(0x88) == -0x1p-6);
}

TEST_CASE("E4M3 rounds to nearest, ties to even, and saturates without NaN bytes") {
  CHECK(to_e4m3(17.0) == to_e4m3(16.0));  // 16 and 18 are neighbours; the tie goes to the even code
  CHECK(to_e4m3(19.0) == to_e4m3(20.0));
  CHECK(to_e4m3(17.001) == to_e4m3(18.0));
  CHECK(to_e4m3(0x1p-10) == 0);  // half of the smallest
  CHECK(to_e4m3(0x1.8p-9) == 0x02);
  CHECK(to_e4m3(0x1.fp-7) == 0x08);  // carries into the normal numbers
  CHECK(to_e4m3(464.0) == 0x7e);
  CHECK(to_e4m3(-1e30) == 0xfe);
  CHECK(to_e4m3(std::numeric_limits<double>::infinity()) == 0x7e);
  CHECK(to_e4m3(std::numeric_limits<double>::quiet_NaN()) == 0);
}

}  // namespace
}  // namespace bk::kernels
