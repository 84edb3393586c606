#include "stats/summary.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/json.h"

using namespace bk;
using namespace bk::stats;

namespace {

std::vector<std::optional<double>> edge_values(const std::string& name) {
  const auto text = read_file(std::string(BK_SOURCE_DIR) + "/tests/fixtures/15-stats-edge/samples.json");
  REQUIRE(text);
  const auto doc = parse_json(*text);
  REQUIRE(doc);
  std::vector<std::optional<double>> out;
  for (const Json& v : (*doc)[name].items()) out.push_back(v.as_double());
  return out;
}

std::vector<double> present(const std::vector<std::optional<double>>& values) {
  std::vector<double> out;
  for (const auto& v : values) {
    if (v) out.push_back(*v);
  }
  return out;
}

}  // namespace

TEST_CASE("few samples say only what they can", "[stats]") {
  const Summary none = summarize(edge_values("n0"));
  CHECK(none.n == 0);
  CHECK_FALSE(none.mean);
  CHECK_FALSE(none.median);
  CHECK_FALSE(none.sd);
  CHECK_FALSE(none.min);
  CHECK_FALSE(percentile({}, 0.5).value);
  CHECK_FALSE(median({}));

  const Summary one = summarize(edge_values("n1"));
  CHECK(one.mean == 42.5);
  CHECK(one.median == 42.5);
  CHECK_FALSE(one.sd);

  CHECK(summarize(edge_values("n4_even")).median == 2.5);
  const Summary nan = summarize(edge_values("with_nan"));
  CHECK(nan.n == 2);
  CHECK(nan.excluded == 1);
  CHECK(nan.mean == 6);
}

TEST_CASE("percentiles are nearest rank and say when their tail is thin", "[stats]") {
  const auto n3 = percentile(present(edge_values("n3")), 0.99);
  CHECK(n3.value == 30);
  CHECK(n3.thin_tail);
  const auto n100 = present(edge_values("n100"));
  CHECK(percentile(n100, 0.99).value == 99);
  CHECK(percentile(n100, 0.99).thin_tail);        // one observation beyond it
  CHECK_FALSE(percentile(n100, 0.95).thin_tail);  // five
  CHECK(percentile(n100, 0.95).value == 95);
  CHECK(percentile(n100, 0.50).value == 50);
  CHECK(percentile({1, 2}, 0.001).value == 1);
  CHECK(percentile({std::nan(""), 7}, 0.5).value == 7);
}

TEST_CASE("the deviation survives values far from zero", "[stats]") {
  const Summary s = summarize(std::vector<double>{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16});
  CHECK(*s.mean == Approx(1e9 + 10).epsilon(1e-15));
  CHECK(*s.sd == Approx(std::sqrt(30.0)));  // squares 36 + 9 + 9 + 36 = 90 over 3
  CHECK(summarize(std::vector<double>{std::numeric_limits<double>::infinity()}).excluded == 1);
}
