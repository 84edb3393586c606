#include "engine/metrics_page.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "fixture.h"

namespace bk::engine {
namespace {

using testing::fixture;

TEST_CASE("a sample line is read with labels, escapes, numbers and time stamps") {
  struct Row {
    const char* line;
    const char* name;
    std::vector<std::pair<std::string, std::string>> labels;
    double value;
    std::optional<double> timestamp;
  };
  const std::vector<Row> rows = {
      {"up 1", "up", {}, 1, {}},
      {"a:b_c 1.7959e+09", "a:b_c", {}, 1.7959e9, {}},
      {"x{} 2", "x", {}, 2, {}},
      {"x{a=\"1\",b=\"2\"} 3", "x", {{"a", "1"}, {"b", "2"}}, 3, {}},
      {"x { a = \"1\" , b = \"2\" , }\t3", "x", {{"a", "1"}, {"b", "2"}}, 3, {}},
      {R"(x{p="C:\\d\"q\"\n} , ="} -4.5E-3)", "x", {{"p", "C:\\d\"q\"\n} , ="}}, -0.0045, {}},
      {R"(x{p="a\d"} 0)", "x", {{"p", "a\\d"}}, 0, {}},
      {"x +5 1395066363000", "x", {}, 5, 1395066363000.0},
      {"x 5 1.5e3", "x", {}, 5, 1500.0},
      {"x 7 # {trace_id=\"ab\"} 0.5 1.25", "x", {}, 7, {}},
      {"x 7 9 # {} 0.5", "x", {}, 7, 9.0},
      {"x 7\r", "x", {}, 7, {}},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    const auto page = parse_metrics(std::string(row.line) + "\n");
    REQUIRE(page);
    REQUIRE(page->samples.size() == 1);
    const MetricSample& sample = page->samples[0];
    CHECK(sample.name == row.name);
    CHECK(sample.labels == row.labels);
    CHECK(sample.value == row.value);
    CHECK(sample.timestamp == row.timestamp);
    CHECK(sample.line == 1);
  }
}

TEST_CASE("NaN and infinities are values in every spelling") {
  for (const char* text : {"NaN", "nan", "-nan", "+NaN", "-NAN"}) {
    INFO(text);
    CHECK(std::isnan(parse_metrics(std::string("x ") + text).value().samples[0].value));
  }
  for (const char* text : {"+Inf", "Inf", "inf", "+infinity"}) {
    INFO(text);
    CHECK(parse_metrics(std::string("x ") + text).value().samples[0].value == HUGE_VAL);
  }
  CHECK(parse_metrics("x -Inf").value().samples[0].value == -HUGE_VAL);
}

TEST_CASE("a line that does not follow the format is refused with its number") {
  struct Row {
    const char* page;
    const char* reason;
  };
  const std::vector<Row> rows = {
      {"", "empty"},
      {" \n\n", "empty"},
      {"# HELP x text\n", "no sample"},
      {"x 1\ny\n", "line 2: the value is missing"},
      {"x one\n", "line 1: 'one' is not a number"},
      {"x 0x10\n", "line 1: '0x10' is not a number"},
      {"x 1,5\n", "line 1: '1,5' is not a number"},
      {"x --1\n", "line 1: '--1' is not a number"},
      {"x 1 2 3\n", "line 1: unexpected text at the end"},
      {"x 1 soon\n", "line 1: after the value: 'soon' is not a number"},
      {"9x 1\n", "line 1: a metric or label name was expected"},
      {"<html>\n", "line 1: a metric or label name was expected"},
      {"{\"error\":1}\n", "line 1: a metric or label name was expected"},
      {"x{a=\"1\" 2\n", "line 1: ',' or '}' was expected among the labels"},
      {"x{a=\"1} 2\n", "line 1: a label value does not end"},
      {"x{a=\"1\\", "line 1: a label value does not end"},
      {"x{a=1} 2\n", "line 1: a label value must be quoted"},
      {"x{a} 2\n", "line 1: '=' was expected after label 'a'"},
      {"x{a=\"1\"", "line 1: ',' or '}' was expected among the labels"},
      {"x 1\n# TYPE x\n", "line 2: TYPE of 'x' without a type"},
      {"x 1 # trace\n", "line 1: malformed exemplar"},
      {"x 1\n# EOF\ny 2\n", "line 3: text after # EOF"},
      {"\"x 1\\n", "begins as a JSON string and is none"},
      {"\"\"", "no sample"},
  };
  for (const Row& row : rows) {
    INFO(row.page);
    const auto page = parse_metrics(row.page);
    REQUIRE_FALSE(page);
    CHECK(page.error().code == Errc::kParse);
    CHECK_THAT(page.error().what, Catch::Contains(row.reason));
  }
}

TEST_CASE("an OpenMetrics page declares families without their suffix") {
  const auto page = parse_metrics(
      "# TYPE vllm:spec counter\n# UNIT vllm:spec tokens\n# HELP vllm:spec text\n"
      "vllm:spec_total{engine=\"0\"} 3 1520879607.789 # {id=\"x\"} 1\nvllm:spec_created{engine=\"0\"} 1.7e9\n"
      "# TYPE lat histogram\nlat_bucket{le=\"+Inf\"} 2\nlat_count 2\nlat_sum 0.5\n# EOF\n");
  REQUIRE(page);
  CHECK(page->eof_seen);
  CHECK(page->samples.size() == 5);
  CHECK(page->type_of("vllm:spec_total") == "counter");
  CHECK(page->type_of("vllm:spec_created") == "gauge");
  CHECK(page->type_of("lat_bucket") == "histogram");
  CHECK(page->type_of("other_total").empty());
}

TEST_CASE("the pages of real servers are read whole") {
  struct Row {
    const char* file;
    std::size_t samples;  // lines that are not comments: grep -vc '^#'
  };
  const std::vector<Row> rows = {
      {"llamacpp-server-plain/metrics_before.body", 15},
      {"llamacpp-server-plain/metrics_after.body", 15},
      {"llamacpp-server-spec/ngram-k5.metrics_after.txt", 20},
      {"vllm-0.26.0/metrics_start.body", 409},
      {"vllm-0.26.0/metrics_end.body", 473},
      {"vllm-0.32.0-cpu-smollm2-ngram/metrics_before.txt", 446},
      {"vllm-0.32.0-cpu-smollm2-ngram/metrics_after.txt", 461},
  };
  for (const Row& row : rows) {
    INFO(row.file);
    const auto page = parse_metrics(fixture(row.file));
    REQUIRE(page);
    CHECK(page->samples.size() == row.samples);
  }
}

TEST_CASE("a page that was written is read back, whatever its labels hold") {
  const auto escaped = [](const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '\n' ? "\\n" : c == '"' ? "\\\"" : c == '\\' ? "\\\\" : std::string(1, c);
    return out;
  };
  std::uint32_t state = 1;
  const auto draw = [&state](std::uint32_t bound) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % bound;
  };
  const std::string alphabet = "ab\"\\\n{}=, #\t\xC3\xA9";
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::uint32_t n = draw(12); n > 0; --n) text += alphabet[draw(static_cast<std::uint32_t>(alphabet.size()))];
    const double value = (static_cast<double>(draw(1000000)) - 5e5) / 7.0;
    const auto page = parse_metrics(fmt::format("m{{k=\"{}\",z=\"1\"}} {}\n", escaped(text), value));
    INFO(text);
    REQUIRE(page);
    CHECK(*page->samples[0].label("k") == text);
    CHECK(page->samples[0].value == value);
  }
}

}  // namespace
}  // namespace bk::engine
