#include <catch2/catch.hpp>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "run.h"

using namespace bk;

namespace {

struct Outcome {
  int code = 0;
  std::string out, err;
  [[nodiscard]] Json json() const {
    const auto doc = parse_json(out);
    REQUIRE(doc);
    return *doc;
  }
};

Outcome bracket_tool_run(const cli::Args& args) {
  std::ostringstream out, err;
  cli::Streams streams{out, err};
  const int code = cli::run_with("bracket", streams, args, bracket_tool::run);
  return {code, out.str(), err.str()};
}

Outcome judge(const std::string& jsonl, cli::Args flags = {"--json"}) {
  const TempDir dir;
  const std::string file = dir.path() / "samples.jsonl";
  REQUIRE(write_file_atomic(file, jsonl));
  cli::Args args{"judge", file};
  args.insert(args.end(), flags.begin(), flags.end());
  return bracket_tool_run(args);
}

std::string line(int boot, const std::string& metric, const std::string& unit, const std::string& cell,
                 const Json& value) {
  return Json::object()
             .set("boot", boot)
             .set("arm", boot == 1 ? "cand" : "base")
             .set("metric", metric)
             .set("unit", unit)
             .set("cell", cell)
             .set("value", value)
             .dump() +
         "\n";
}

/// A file of case 24 as lines: each leg is a list of values, an object of cells, or an object with unit and values.
std::string case24(const std::string& name) {
  const auto text = read_file(std::string(BK_SOURCE_DIR) + "/tests/fixtures/24-bracket-drift/" + name + ".json");
  REQUIRE(text);
  const auto doc = parse_json(*text);
  REQUIRE(doc);
  std::string out;
  const char* legs[] = {"base1", "cand", "base2"};
  for (int boot = 0; boot < 3; ++boot) {
    const Json& leg = (*doc)[legs[boot]];
    const std::string unit = (*doc)["unit"].as_string().value_or("");
    if (const Json* values = leg.find("values")) {
      for (const Json& v : values->items())
        out += line(boot, *leg["name"].as_string(), *leg["unit"].as_string(), "", v);
    } else if (leg.is_object()) {
      for (const auto& [cell, list] : leg.members()) {
        for (const Json& v : list.items()) out += line(boot, "rate", unit, cell, v);
      }
    } else {
      for (const Json& v : leg.items()) out += line(boot, "value", unit, *(*doc)["cell"].as_string(), v);
    }
  }
  return out;
}

Json only_metric(const Outcome& outcome) {
  const Json doc = outcome.json();
  REQUIRE(doc["metrics"].items().size() == 1);
  return doc["metrics"].items()[0];
}

}  // namespace

TEST_CASE("case 24: base, candidate, base", "[bracket]") {
  struct Row {
    std::string name;
    double delta, drift;
    std::string verdict;
    std::string never;  // the calibrated assessment may be open, and never says the opposite
  };
  const Row rows[] = {{"null-ab", 0.0, -6.0, "inconclusive", ""},
                      {"real-gain", 10.0, 0.0, "gain", "worse"},
                      {"hidden-gain", 5.263, -10.0, "inconclusive", "same"},
                      {"constant", -31.359, 0.0, "gain", "worse"},
                      {"mixed-units", -1.035, 0.415, "gain", "worse"}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Outcome o = judge(case24(row.name));
    CHECK(o.err.empty());
    CHECK(o.code == 4);
    const Json m = only_metric(o);
    CHECK(*m["delta_pct"].as_double() == Approx(row.delta).margin(0.001));
    CHECK(*m["drift_pct"].as_double() == Approx(row.drift).margin(0.001));
    CHECK(m["historical"]["verdict"].as_string() == row.verdict);
    CHECK(m["assessment"]["state"].as_string() == "inconclusive");
    CHECK(m["assessment"]["reason"].as_string() == "no_degrees_of_freedom");
    CHECK(m["assessment"]["state"].as_string() != row.never);
  }
}

TEST_CASE("case 24: a cell that one arm lacks is listed and joins no comparison", "[bracket]") {
  const Outcome o = judge(case24("unmatched-cells"));
  const Json m = only_metric(o);
  CHECK(m["cell"].as_string() == "tg128 c1");
  CHECK(*m["delta_pct"].as_double() == Approx(0).margin(1e-9));
  const Json doc = o.json();
  const auto& unmatched = doc["unmatched"].items();
  REQUIRE(unmatched.size() == 1);
  CHECK(unmatched[0]["cell"].as_string() == "tg128 c4");
  CHECK(unmatched[0]["missing_in"].as_string() == "cand");
  const Outcome table = judge(case24("unmatched-cells"), {});
  CHECK(table.out.find("not compared: rate tg128 c4 is missing in cand") != std::string::npos);
}

TEST_CASE("case 24: units that were mixed are converted and the output says so", "[bracket]") {
  const Outcome o = judge(case24("mixed-units"), {});
  CHECK(o.out.find("values in us were converted to ms") != std::string::npos);
  CHECK(o.out.find("-1.04 %") != std::string::npos);
}

TEST_CASE("the six real boots, as a table", "[bracket]") {
  const double tpot[] = {2.192, 2.158, 2.119, 2.135, 2.073, 2.048};
  std::string text;
  for (int i = 0; i < 6; ++i) {
    text += fmt::format(R"({{"boot": {}, "arm": "{}", "metric": "tpot_ms", "value": {}}})", i, i % 2 ? "cand" : "base",
                        tpot[i]) +
            "\n";
  }
  const Outcome o = judge(text, {});
  CHECK(o.code == 4);
  CHECK(o.err.empty());
  INFO(o.out);
  CHECK(o.out.find("tpot_ms  (lower is better)") != std::string::npos);
  CHECK(o.out.find("raw effect            +0.68 % [-1.45, +2.86]") != std::string::npos);
  CHECK(o.out.find("drift per boot        -1.34 %") != std::string::npos);
  CHECK(o.out.find("INCONCLUSIVE (interval_spans_zero)") != std::string::npos);
  CHECK(o.out.find("no call (first_and_last_leg_must_be_base)") != std::string::npos);
}

TEST_CASE("judge's exit code is the worst metric's", "[bracket]") {
  const auto boots = [](const std::string& metric, std::vector<double> values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += fmt::format(R"({{"boot": {}, "arm": "{}", "metric": "{}", "value": {}}})", i, i % 2 ? "cand" : "base",
                          metric, values[i]) +
              "\n";
    }
    return text;
  };
  const std::string better = boots("tok_s", {100, 105, 100.1, 105.1, 100.05});
  const std::string worse = boots("ttft_ms", {100, 110, 100.1, 110.1, 100.05});
  const std::string same = boots("gap_ms", {100, 100.03, 100.01, 100, 99.99});
  CHECK(judge(better).code == 0);
  CHECK(judge(same).code == 0);
  CHECK(judge(worse).code == 1);
  CHECK(judge(better + worse).code == 1);
  CHECK(only_metric(judge(better))["assessment"]["state"].as_string() == "better");
  CHECK(only_metric(judge(same))["assessment"]["state"].as_string() == "same");
}

TEST_CASE("judge refuses in one line", "[bracket]") {
  const Outcome bad = judge("{\"boot\": 0}\n");
  CHECK(bad.code == 2);
  CHECK(bad.out.empty());
  CHECK(bad.err.find("bracket: error: ") == 0);
  CHECK(bad.err.find("line 1") != std::string::npos);
  CHECK(judge("{\"boot\":0,\"arm\":\"base\",\"metric\":\"watts\",\"value\":1}\n").code == 2);
  CHECK(
      judge("{\"boot\":0,\"arm\":\"base\",\"metric\":\"watts\",\"value\":1}\n", {"--better", "lower", "--json"}).code ==
      4);
  const std::string tpot = "{\"boot\":0,\"arm\":\"base\",\"metric\":\"tpot_ms\",\"value\":1}\n";
  const Outcome contradicts = judge(tpot, {"--better", "higher"});
  CHECK(contradicts.code == 2);
  CHECK(contradicts.err.find("--better higher contradicts the name tpot_ms, of which lower is better") !=
        std::string::npos);
  CHECK(judge(tpot, {"--better", "lower"}).code == 4);
  // Beside a name that leaves it open it decides for that one.
  const std::string watts = "{\"boot\":0,\"arm\":\"base\",\"metric\":\"watts\",\"value\":1}\n";
  CHECK(judge(tpot + watts, {"--better", "higher"}).code == 4);
  CHECK(bracket_tool_run({"judge", "/nonexistent/file.jsonl"}).code == 3);
  CHECK(bracket_tool_run({"judge"}).code == 2);
  CHECK(bracket_tool_run({"judeg", "x"}).code == 2);
  CHECK(bracket_tool_run({"judge", "--help"}).code == 0);
}
