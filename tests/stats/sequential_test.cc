#include "stats/sequential.h"

#include <catch2/catch.hpp>

using namespace bk;

TEST_CASE("one look has all of alpha") {
  const auto alphas = stats::look_alphas({1}, 0.05);
  REQUIRE(alphas);
  CHECK(alphas->at(0) == Approx(0.05).margin(1e-6));
}

TEST_CASE("two looks: the bounds of the published tables") {
  // Lan-DeMets spending of the O'Brien-Fleming kind at one half and all: z = 2.963 and 1.969.
  const auto alphas = stats::look_alphas({0.5, 1}, 0.05);
  REQUIRE(alphas);
  CHECK(alphas->at(0) == Approx(0.00305).margin(5e-5));
  CHECK(alphas->at(1) == Approx(0.0490).margin(3e-4));
}

TEST_CASE("looks that make no sequence are refused") {
  CHECK_FALSE(stats::look_alphas({}, 0.05));
  CHECK_FALSE(stats::look_alphas({0.5}, 0.05));
  CHECK_FALSE(stats::look_alphas({0.7, 0.5, 1}, 0.05));
  CHECK_FALSE(stats::look_alphas({1}, 0));
}
