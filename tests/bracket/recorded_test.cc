#include "bracket/recorded.h"

#include <catch2/catch.hpp>

#include "bracket/unit.h"

using namespace bk;
using namespace bk::bracket;
using stats::Better;

namespace {

std::string sample(int boot, const std::string& arm, const std::string& rest) {
  return fmt::format(R"({{"boot": {}, "arm": "{}", {}}})", boot, arm, rest) + "\n";
}

}  // namespace

TEST_CASE("a metric's name says its unit and its direction", "[bracket]") {
  struct Row {
    std::string metric, stem, unit;
    std::optional<Better> better;
  };
  const Row rows[] = {
      {"tpot_ms", "tpot", "ms", Better::kLower},      {"ttft_s", "ttft", "s", Better::kLower},
      {"gap_us", "gap", "us", Better::kLower},        {"decode_tok_s", "decode", "tok/s", Better::kHigher},
      {"tok_s", "tok_s", "tok/s", Better::kHigher},   {"requests_per_s", "requests", "/s", Better::kHigher},
      {"acceptance", "acceptance", "", std::nullopt}, {"_s", "", "s", Better::kLower}};
  for (const Row& row : rows) {
    CAPTURE(row.metric);
    const MetricName name = split_metric(row.metric);
    CHECK(name.stem == row.stem);
    CHECK(name.unit.name == row.unit);
    CHECK(name.unit.better == row.better);
  }
  CHECK(parse_unit("µs").scale == parse_unit("us").scale);
  CHECK(parse_unit("req/s").better == Better::kHigher);
  CHECK_FALSE(parse_unit("MB").better);
}

TEST_CASE("samples of one boot join it, boots stand in the order of their numbers", "[bracket]") {
  const auto r =
      parse_recorded(sample(2, "base", R"("metric": "tok_s", "value": 3)") + "\r\n" +
                         sample(0, "base", R"("metric": "tok_s", "value": 1, "acceptance": 0.3, "k_eff": 5)") +
                         sample(1, "cand", R"("metric": "tok_s", "value": 2)") +
                         sample(0, "base", R"("metric": "tok_s", "value": null)") +
                         sample(0, "base", R"("metric": "tok_s", "value": 1.5)"),
                     std::nullopt);
  REQUIRE(r);
  REQUIRE(r->metrics.size() == 1);
  const RecordedMetric& m = r->metrics[0];
  REQUIRE(m.boots.size() == 3);
  CHECK(m.boots[0].order == 0);
  CHECK(m.boots[0].samples.size() == 2);
  CHECK(m.boots[0].samples[0].acceptance == 0.3);
  CHECK(m.boots[0].samples[0].k_eff == 5.0);
  CHECK(m.boots[1].arm == stats::Arm::kCand);
  CHECK(m.without_value == 1);
  CHECK(m.better == Better::kHigher);
}

TEST_CASE("times are converted, other units never divided as they stand", "[bracket]") {
  const auto r = parse_recorded(sample(0, "base", R"("metric": "ttft_ms", "value": 120)") +
                                    sample(1, "cand", R"("metric": "ttft_us", "value": 119000)") +
                                    sample(2, "base", R"("metric": "ttft", "unit": "s", "value": 0.121)"),
                                std::nullopt);
  REQUIRE(r);
  REQUIRE(r->metrics.size() == 1);
  CHECK(r->metrics[0].unit == "ms");
  CHECK(r->metrics[0].boots[1].samples[0].value == Approx(119));
  CHECK(r->metrics[0].boots[2].samples[0].value == Approx(121));
  CHECK(r->metrics[0].converted_from == std::vector<std::string>{"us", "s"});

  const auto mixed = parse_recorded(sample(0, "base", R"("metric": "speed", "unit": "ms", "value": 1)") +
                                        sample(1, "cand", R"("metric": "speed", "unit": "tok/s", "value": 1)"),
                                    std::nullopt);
  REQUIRE_FALSE(mixed);
  CHECK(mixed.error().code == Errc::kUsage);
  CHECK(mixed.error().where == "line 2");
  CHECK(mixed.error().what.find("do not convert") != std::string::npos);

  // One stem in two dimensions under two names: two metrics, each with one arm only.
  const auto two = parse_recorded(sample(0, "base", R"("metric": "prefill_s", "value": 1)") +
                                      sample(1, "cand", R"("metric": "prefill_tok_s", "value": 1)"),
                                  std::nullopt);
  REQUIRE(two);
  CHECK(two->metrics.empty());
  REQUIRE(two->unmatched.size() == 2);
  CHECK(two->unmatched[0].missing_in == stats::Arm::kCand);
  CHECK(two->unmatched[1].missing_in == stats::Arm::kBase);
}

TEST_CASE("a line that cannot be used is named", "[bracket]") {
  struct Row {
    std::string text, what;
  };
  const std::string good = sample(0, "base", R"("metric": "tok_s", "value": 3)");
  const Row rows[] = {
      {"{", "not JSON"},
      {"[1]", "not a JSON object"},
      {R"({"arm": "base", "metric": "tok_s", "value": 1})", "\"boot\""},
      {R"({"boot": 0.5, "arm": "base", "metric": "tok_s", "value": 1})", "\"boot\""},
      {R"({"boot": 1, "arm": "b", "metric": "tok_s", "value": 1})", "\"arm\""},
      {R"({"boot": 1, "arm": "cand", "metric": "", "value": 1})", "\"metric\""},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s"})", "\"value\" is missing"},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s", "value": "3"})", "\"value\" has to be a number"},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s", "value": 3, "acceptance": 30.5})", "between 0 and 1"},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s", "value": 3, "k_eff": 0})", "above 0"},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s", "value": 0})", "\"value\" has to be above 0"},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s", "value": -1.9})", "\"value\" has to be above 0"},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s", "value": 3, "unit": 5})", "\"unit\""},
      {R"({"boot": 1, "arm": "cand", "metric": "tok_s", "value": 3, "cell": 5})", "\"cell\""},
      {R"({"boot": 0, "arm": "cand", "metric": "tok_s", "value": 3})", "both arms"},
      {R"({"boot": 1, "arm": "cand", "metric": "watts", "value": 3})", "--better"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto r = parse_recorded(good + row.text, std::nullopt);
    REQUIRE_FALSE(r);
    CHECK(r.error().code == Errc::kUsage);
    CHECK(r.error().where == "line 2");
    CHECK(r.error().what.find(row.what) != std::string::npos);
  }
  CHECK(parse_recorded("\n\n", std::nullopt).error().what.find("no sample") != std::string::npos);
  const auto watts = parse_recorded(sample(0, "base", R"("metric": "watts", "value": 3)"), Better::kLower);
  CHECK(watts);
}
