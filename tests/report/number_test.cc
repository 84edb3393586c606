#include "report/number.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace bk::report;

TEST_CASE("numbers keep their significant digits and stay plain") {
  struct Case {
    std::optional<double> value;
    int digits;
    const char* want;
  };
  const Case cases[] = {
      {62.114, 4, "62.11"},
      {0.5, 3, "0.500"},
      {123456, 3, "123456"},
      {9.9996, 4, "10.00"},
      {-0.00123456, 3, "-0.00123"},
      {0, 4, "0"},
      {99.95, 3, "100"},
      {1, 1, "1"},
      {0.06, 1, "0.06"},
      {-62.114, 4, "-62.11"},
      {-999.96, 4, "-1000"},
      {0.99996, 4, "1.000"},
      {2817.4, 4, "2817"},
      {std::nullopt, 4, "-"},
      {1e-7, 2, "0.00000010"},
      {std::numeric_limits<double>::quiet_NaN(), 4, "-"},
      {std::numeric_limits<double>::infinity(), 4, "-"},
  };
  for (const Case& c : cases) {
    INFO(c.want);
    CHECK(number(c.value, c.digits) == c.want);
  }
}

TEST_CASE("effects carry their sign, and no zero carries one") {
  CHECK(fixed(3.4666, 2) == "3.47");
  CHECK(fixed(-0.001, 2) == "0.00");
  CHECK(fixed(std::nullopt, 2) == "-");
  CHECK(percent(3.4666) == "+3.47 %");
  CHECK(percent(-3.4666, 1) == "-3.5 %");
  CHECK(percent(0.001) == "0.00 %");
  CHECK(percent(-0.001) == "0.00 %");
  CHECK(percent(std::nullopt) == "-");
  CHECK(percent_interval(3.4666, 2.1, 4.8) == "+3.47 % [+2.10, +4.80]");
  CHECK(percent_interval(3.4666, std::nullopt, std::nullopt) == "+3.47 %");
  CHECK(percent_interval(std::nullopt, 1, 2) == "-");
  CHECK(points_interval(1.2, -0.4, 2.8) == "+1.20 pt [-0.40, +2.80]");
}
