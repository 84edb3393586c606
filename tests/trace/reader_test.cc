#include "trace/reader.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/file.h"
#include "builder.h"
#include "trace/decimal.h"

using namespace bk;
using namespace bk::trace;

namespace {

const std::string kCase = std::string(BK_SOURCE_DIR) + "/tests/fixtures/25-trace-invalid-json/";

struct Sums {
  int kernels = 0;
  std::int64_t sum_ns = 0, first_ns = 0, last_ns = 0;
  ReadCounts counts;
  std::string names;
};

Result<Sums> sums_of(std::unique_ptr<ByteSource> source, const ReadOptions& options = {}) {
  Reader reader(std::move(source), options);
  Sums sums;
  for (Event event;;) {
    BK_ASSIGN(const bool more, reader.next(event));
    if (!more) break;
    if (event.kind != Kind::kKernel) continue;
    if (sums.kernels++ == 0) sums.first_ns = event.ts_ns;
    sums.sum_ns += event.dur_ns;
    sums.last_ns = event.ts_ns + event.dur_ns;
    sums.names.append(event.name).append("|");
  }
  sums.counts = reader.counts();
  return sums;
}

Result<Sums> sums_of_file(const std::string& name, const ReadOptions& options = {}) {
  BK_ASSIGN(auto source, open_source(kCase + name));
  return sums_of(std::move(source), options);
}

Result<Sums> sums_of_text(const std::string& text, std::size_t piece = std::size_t(-1)) {
  return sums_of(memory_source(text, piece));
}

}  // namespace

TEST_CASE("traces that are whole give three kernels, 30 us, span 50 us") {
  for (const char* name : {"good.json", "good.json.gz", "two-members.json.gz", "gz-without-suffix.json",
                           "open-array.json", "trailing-comma-empty-object.json"}) {
    CAPTURE(name);
    const auto sums = sums_of_file(name);
    REQUIRE(sums);
    CHECK(sums->kernels == 3);
    CHECK(sums->sum_ns == 30'000);
    CHECK(sums->last_ns - sums->first_ns == 50'000);
    CHECK(sums->names == "alpha|beta|gamma|");
    CHECK(sums->counts.empty_objects == (std::string(name) == "trailing-comma-empty-object.json" ? 1 : 0));
  }
}

TEST_CASE("what is no JSON or cut is an error with its byte") {
  struct Case {
    const char* file;
    const char* where;
    const char* says;
  };
  const Case cases[] = {
      {"unescaped-quote.json", "byte 212", "no JSON"},
      {"backslash-path.json", "byte 219", "no JSON"},
      {"control-char.json", "byte 212", "control"},
      {"bad-utf8.json", "byte 212", "UTF-8"},
      {"bare-words.json", "byte 286", "no JSON"},
      {"cut.json", "byte 322", "cut"},
      {"empty.json", "byte 0", "empty"},
      {"cut.json.gz", "", "cut at compressed byte 125"},
      // zlib stops behind the checksum, at 161, ISA-L behind the length that follows it.
      {"bad-crc.json.gz", "", "checksum of a gzip member is wrong near compressed byte 16"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.file);
    const auto sums = sums_of_file(c.file);
    REQUIRE_FALSE(sums);
    CHECK(sums.error().code == Errc::kParse);
    CHECK(sums.error().where == c.where);
    CHECK(sums.error().what.find(c.says) != std::string::npos);
  }
}

TEST_CASE("a value nested too deep is named as that") {
  for (const int depth : {150, 250}) {
    CAPTURE(depth);
    const std::string nested = std::string(depth, '[') + std::string(depth, ']');
    const auto sums = sums_of(memory_source("[{\"ph\": \"X\", \"args\": {\"a\": " + nested + "}}]"));
    CHECK(sums.has_value() == (depth < 200));
    if (!sums) CHECK(sums.error().what.find("nested more than 200 deep") != std::string::npos);
  }
}

TEST_CASE("repair leaves out what cannot be read and counts it") {
  for (const char* name : {"unescaped-quote.json", "backslash-path.json", "control-char.json", "bad-utf8.json",
                           "bare-words.json", "cut.json"}) {
    CAPTURE(name);
    const auto sums = sums_of_file(name, {true, false});
    REQUIRE(sums);
    CHECK(sums->kernels == 2);
    CHECK(sums->sum_ns == 20'000);
    CHECK(sums->counts.lost == 1);
    CHECK(sums->counts.first_loss.find("byte") != std::string::npos);
  }
  for (const char* name : {"cut.json.gz", "bad-crc.json.gz", "empty.json"})
    CHECK_FALSE(sums_of_file(name, {true, false}));
}

TEST_CASE("microseconds become nanoseconds digit by digit") {
  struct Case {
    const char* text;
    std::optional<std::int64_t> ns;
  };
  const Case cases[] = {{"0", 0},
                        {"10", 10'000},
                        {"5121012173415.546", 5'121'012'173'415'546},
                        {"0.001", 1},
                        {"0.3333333333333333", 333},
                        {"0.6666666666666666", 667},
                        {"2.0005", 2'001},
                        {"2.00049", 2'000},
                        {"-1.5", -1'500},
                        {"1e3", 1'000'000},
                        {"5.121012173415546E+12", 5'121'012'173'415'546},
                        {"25e-4", 3},
                        {"1e-9", 0},
                        {"0.1", 100},
                        {"9223372036854775", 9'223'372'036'854'775'000},
                        {"9223372036854775.9", std::nullopt},
                        {"1e30", std::nullopt},
                        {"", std::nullopt},
                        {"1.", std::nullopt},
                        {".5", std::nullopt},
                        {"01", std::nullopt},
                        {"nan", std::nullopt},
                        {"1x", std::nullopt}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(nanos_of_micros(c.text) == c.ns);
  }
}

TEST_CASE("the cut of the bytes changes nothing, neither do windows") {
  test::TraceBuilder builder;
  for (int i = 0; i < 3000; ++i) {
    builder.kernel("f<{lambda()#3}, {k}>: \\\"{\\\"ph\\\"" + std::string(i % 50, 'x'), i * 10.125, 1.5 + i % 7, i % 3);
  }
  const std::string lines = builder.text();
  std::string compact = lines;
  compact.erase(std::remove(compact.begin(), compact.end(), '\n'), compact.end());
  REQUIRE(compact.size() > std::size_t{512} * 1024);
  const auto whole = sums_of_text(lines);
  REQUIRE(whole);
  CHECK(whole->kernels == 3000);
  for (const std::string& text : {lines, compact}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4099}, std::size_t{300'000}}) {
      CAPTURE(piece);
      const auto sums = sums_of_text(text, piece);
      REQUIRE(sums);
      CHECK(sums->sum_ns == whole->sum_ns);
      CHECK(sums->names == whole->names);
    }
  }
}

TEST_CASE("an event longer than the window is read") {
  test::TraceBuilder builder;
  builder.kernel("a", 0, 1).kernel(std::string(700'000, 'n'), 2, 3).kernel("b", 6, 1);
  const auto sums = sums_of_text(builder.text());
  REQUIRE(sums);
  CHECK(sums->kernels == 3);
  CHECK(sums->sum_ns == 5'000);
}

TEST_CASE("a fault far into a trace is named by its byte, and costs one event under repair") {
  test::TraceBuilder builder;
  for (int i = 0; i < 5000; ++i) builder.kernel("k", i, 0.5);
  std::string text = builder.text();
  const std::size_t at = text.find("\"k\"", 450'000) + 1;
  text[at] = '\x01';
  const auto strict = sums_of_text(text);
  REQUIRE_FALSE(strict);
  CHECK(strict.error().where == "byte " + std::to_string(at));
  const auto repaired = sums_of(memory_source(text), {true, false});
  REQUIRE(repaired);
  CHECK(repaired->kernels == 4999);
  CHECK(repaired->counts.lost == 1);
}

TEST_CASE("every cut of a trace is an error, never half a sum") {
  test::TraceBuilder builder;
  builder.kernel("a", 0, 1).event("cpu_op", "b{", "1", "2", 1).kernel("c", 6, 1);
  const std::string text = builder.text();
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(sums_of_text(text.substr(0, size)));
  }
  CHECK(sums_of_text(text));
}

TEST_CASE("events that are not whole, or of other shapes") {
  const auto sums = sums_of_text(
      R"({"displayTimeUnit": "ns", "a": [1, {"traceEvents": 2}], "traceEvents": [
        {"ph": "X", "cat": "Kernel,x", "name": "k", "pid": 1, "tid": "s", "ts": 5, "dur": 0},
        {"dur": 2.5, "ts": 1e1, "name": "é\u00e9", "cat": "kernel", "ph": "X", "tid": 3, "args": {"stream": {}}},
        {"ph": "B", "cat": "kernel", "name": "k", "ts": 1}, {"ph": "X", "cat": "kernel", "name": "no dur", "ts": 1},
        {"ph": "b", "cat": "async", "id": "0x1", "ts": 1}, {"ph": "X", "name": "no cat", "ts": 1, "dur": 1}, {}
      ], "after": null} )");
  REQUIRE(sums);
  CHECK(sums->kernels == 2);
  CHECK(sums->sum_ns == 2'500);
  CHECK(sums->names == "k|éé|");
  CHECK(sums->counts.incomplete_gpu == 2);
  CHECK(sums->counts.events == 6);
}

TEST_CASE("members of every form, where events are read quickly and where escapes have to be looked at") {
  const char* const good[] = {
      R"("a":1)", R"("a" : 1)",    R"("a":1 )",           R"("a": -0.5e+3)", R"("a":"x" )", R"("a":"")",
      R"("":1)",  R"("a":true )",  R"("a":null)",         R"("a": {})",      R"("a":[ ])",  R"("a":"{,}:")",
      R"("a":0)", R"("a":0.0E-0)", R"("a":[{"b":2}, 3])", R"("a":"\u00e9")", R"("a" :"x")", R"("a":{"b":{}})"};
  const char* const bad[] = {R"("a":01)",    R"("a":1.)",   R"("a":-)",     R"("a":1x)",      R"("a":1 2)",
                             R"("a" 1)",     R"("a":)",     R"(a:1)",       R"("a":nan)",     R"("a":Infinity)",
                             R"("a":tru)",   R"("a":"x"y)", R"("a":+1)",    R"("a":.5)",      R"("a"::1)",
                             R"("a":1,)",    R"("a",1)",    R"(1:1)",       R"("a":"x" "y")", R"("a":1 "b")",
                             R"("a":1e)",    R"("a":--1)",  R"("a":1.5.2)", R"("a":{"b"})",   R"("a":[1 2])",
                             R"("a"x:1)",    R"("a":x"y")", R"("a":1])",    R"("a":"\x")",    R"("a":truefalse)",
                             R"("a":"\u12")"};
  const auto kernels = [](const std::string& member, const std::string& before, bool in_args) {
    const std::string extra = in_args ? R"("args":{)" + member + "}" : member;
    const auto sums = sums_of_text("[" + before + R"({"ph":"X","cat":"kernel","name":"k","ts":1,)" + extra +
                                   R"(,"dur":2},{"ph":"X","cat":"kernel","name":"k","ts":5,"dur":2}])");
    return sums ? sums->kernels : -1;
  };
  for (const char* before : {"", R"({"name":"\\"},)"}) {
    for (const bool in_args : {false, true}) {
      for (const char* member : good) {
        CAPTURE(before, in_args, member);
        CHECK(kernels(member, before, in_args) == 2);
      }
      for (const char* member : bad) {
        CAPTURE(before, in_args, member);
        CHECK(kernels(member, before, in_args) == -1);
      }
    }
  }
}

TEST_CASE("times in quotes are read; times that are none, or that no sum can hold, are errors") {
  const auto with = [](const std::string& ts, const std::string& dur) {
    return sums_of_text(R"([{"ph":"X","cat":"kernel","name":"k","ts":)" + ts + R"(,"dur":)" + dur + "}]");
  };
  const std::pair<const char*, const char*> good[] = {
      {"5", "2.5"}, {R"("5")", R"("2.5")"}, {"-5", R"("25e-1")"}, {"4e15", "2.5"}, {"1,\"ts\":5", "9,\"dur\":2.5"}};
  for (const auto& [ts, dur] : good) {
    CAPTURE(ts, dur);
    const auto sums = with(ts, dur);
    REQUIRE(sums);
    CHECK(sums->sum_ns == 2'500);
  }
  CHECK(with("0", "1e12"));
  const std::pair<const char*, const char*> bad[] = {
      {"0", R"(" 2")"}, {"0", R"("0x2")"}, {"0", R"("NaN")"}, {"0", "null"},  {"0", "true"}, {"0", "-1"},
      {"0", "1.1e12"},  {"0", "9e15"},     {"4.1e15", "1"},   {"-9e15", "1"}, {"x", "1"},    {R"("x")", "1"}};
  for (const auto& [ts, dur] : bad) {
    CAPTURE(ts, dur);
    CHECK_FALSE(with(ts, dur));
  }
}

TEST_CASE("texts that are no traces") {
  for (const char* text : {"{}", "[1]", "{\"traceEvents\": [}", "{\"traceEvents\": []} x", "7", "{\"a\": 1}",
                           "{\"traceEvents\": [{\"ph\": \"X\" \"cat\": 1}]}", "{\"traceEvents\": [{} {}]}",
                           "{\"traceEvents\": [{\"a\": 01}]}", "{\"traceEvents\": [{\"a\": [1,]}]}",
                           "{\"traceEvents\": [], \"traceEvents\": []}",
                           "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":-1}]}"}) {
    CAPTURE(text);
    CHECK_FALSE(sums_of_text(text));
  }
  CHECK(sums_of_text("\xef\xbb\xbf[]"));
}
