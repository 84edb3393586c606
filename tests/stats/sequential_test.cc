#include "stats/sequential.h"

#include <catch2/catch.hpp>

using namespace bk;
using stats::Arm;

namespace {

std::vector<Arm> alternating(int boots) {
  std::vector<Arm> order;
  for (int i = 0; i < boots; ++i) order.push_back(i % 2 == 0 ? Arm::kBase : Arm::kCand);
  return order;
}

}  // namespace

TEST_CASE("one look has all of alpha") {
  const auto alphas = stats::look_alphas(alternating(9), {9}, true, 0.05);
  REQUIRE(alphas);
  CHECK(alphas->at(0) == Approx(0.05).margin(1e-6));
}

TEST_CASE("two looks at many boots: the bounds of the published tables") {
  // Lan-DeMets spending of the O'Brien-Fleming kind at one half and all: z = 2.963 and 1.969.
  const auto alphas = stats::look_alphas(alternating(48), {24, 48}, false, 0.05);
  REQUIRE(alphas);
  CHECK(alphas->at(0) == Approx(0.00305).margin(5e-5));
  CHECK(alphas->at(1) == Approx(0.0490).margin(1.5e-3));  // two standard errors of 100,000 paths
}

TEST_CASE("with few boots the last look gets less than many would leave it") {
  const auto few = stats::look_alphas(alternating(9), {5, 7, 9}, true, 0.05);
  const auto many = stats::look_alphas(alternating(72), {40, 56, 72}, true, 0.05);
  REQUIRE(few);
  REQUIRE(many);
  CHECK(few->at(0) < few->at(1));
  CHECK(few->at(1) < few->at(2));
  CHECK(few->at(2) < many->at(2));
  CHECK(*few == *stats::look_alphas(alternating(9), {5, 7, 9}, true, 0.05));
}

TEST_CASE("looks that make no sequence are refused") {
  const auto order = alternating(9);
  CHECK_FALSE(stats::look_alphas(order, {}, true, 0.05));
  CHECK_FALSE(stats::look_alphas(order, {5}, true, 0.05));
  CHECK_FALSE(stats::look_alphas(order, {7, 5, 9}, true, 0.05));
  CHECK_FALSE(stats::look_alphas(order, {5, 11}, true, 0.05));
  CHECK_FALSE(stats::look_alphas(order, {3, 9}, true, 0.05));
  CHECK_FALSE(stats::look_alphas({Arm::kBase, Arm::kBase}, {2}, false, 0.05));
  CHECK_FALSE(stats::look_alphas(order, {9}, true, 0));
}
