#include "trace/parts.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "builder.h"
#include "trace/event_start.h"

using namespace bk;
using namespace bk::trace;

namespace {

/// Everything a recording says, or its error.
std::string said(const std::string& text, unsigned threads, std::size_t piece = std::size_t(-1)) {
  const auto recording = record(memory_source(text, piece), "by hand", {}, threads);
  if (!recording) return "error " + recording.error().text();
  std::string all;
  for (const Name& name : recording->names()) {
    all +=
        name.text + "|" + name.category + "|" + std::to_string(name.count) + "|" + std::to_string(name.sum_ns) + "\n";
  }
  for (const Stream& stream : recording->streams()) all += stream.label() + "\n";
  const auto say = [&](const Slice& slice) {
    all += std::to_string(slice.ts_ns) + "+" + std::to_string(slice.dur_ns) + " " + std::to_string(slice.name) + " " +
           std::to_string(slice.stream) + "\n";
  };
  recording->for_each_work(say);
  recording->for_each_range(say);
  const ReadCounts& counts = recording->counts;
  return all + std::to_string(counts.bytes) + " " + std::to_string(counts.events) + " " +
         std::to_string(counts.empty_objects) + " " + std::to_string(counts.incomplete_gpu);
}

/// About 6 MB: names that repeat and names that come once, several streams, events that are not asked for.
std::string long_trace(const std::string& odd_name, const std::string& odd_args) {
  test::TraceBuilder builder;
  for (int i = 0; i < 24'000; ++i) {
    builder.kernel("gemm_" + std::to_string(i % 40) + (i % 1000 == 7 ? odd_name : ""), i * 10.125, 1.5 + i % 7, i % 3);
    if (i % 500 == 3) builder.kernel("once_" + std::to_string(i), i * 10.125 + 1, 0.25, 1);
    if (i % 700 == 5) builder.event("gpu_user_annotation", "step", std::to_string(i * 10), "90", i % 2);
    builder.event("cpu_op", "aten::mm", "1", "2", i);
  }
  std::string text = builder.text();
  for (std::size_t at = text.size() / 3; !odd_args.empty() && at < text.size(); at += 900'000) {
    at = text.find("\"args\"", at);
    if (at == std::string::npos) break;
    text.insert(at, odd_args);
  }
  return text;
}

}  // namespace

TEST_CASE("several threads read what one thread reads") {
  struct Case {
    const char* what;
    std::string text;
  };
  const std::string plain = long_trace("", "");
  const std::string array = plain.substr(plain.find('['), plain.rfind(']') + 1 - plain.find('['));
  std::string compact = plain;
  compact.erase(std::remove(compact.begin(), compact.end(), '\n'), compact.end());
  const std::vector<Case> cases = {
      {"an object", plain},
      {"no line ends", compact},
      {"an array", array},
      {"an array that is not closed", array.substr(0, array.rfind('}') + 1)},
      {"events in names", long_trace(R"(}, {\"ph\": \"X\", \"cat\": \"kernel\")", "")},
      {"what seems an event within arguments", long_trace("", R"("list": [{"a": 1}, {"name": "b"}, {"ph": "X"}],)")},
      {"an event of 700 kB", long_trace(std::string(700'000, 'n'), "")},
      {"members after the events", plain.substr(0, plain.rfind('}')) + R"(,"after":[{"a":1},{"name":2}]})"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const std::string one = said(c.text, 1);
    CHECK(one.find("error") == std::string::npos);
    for (const unsigned threads : {2U, 3U, 8U}) {
      CAPTURE(threads);
      CHECK((said(c.text, threads) == one));
    }
    CHECK((said(c.text, 2, 100'003) == one));
  }
}

TEST_CASE("several threads find the fault that one thread finds") {
  const std::string plain = long_trace("", "");
  for (const double share : {0.0001, 0.2, 0.5, 0.8, 0.9999}) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(plain.size()));
    std::string wrong_byte = plain, second_object = plain, twice = plain;
    twice.back() = ',';
    twice += plain.substr(1);
    wrong_byte[plain.find("\"gemm", at) + 2] = '\x01';
    second_object.insert(plain.find("},", at) + 1, " {}");
    for (const std::string& text :
         {wrong_byte, second_object, twice, plain.substr(0, at), plain.substr(0, at) + plain.substr(at + 1) + "]"}) {
      CAPTURE(share);
      const std::string one = said(text, 1);
      CHECK(one.starts_with("error"));
      for (const unsigned threads : {2U, 4U}) CHECK(said(text, threads) == one);
    }
  }
}

TEST_CASE("where an event seems to start") {
  struct Case {
    const char* text;
    std::size_t last;
  };
  const Case cases[] = {{"", 0},
                        {"{", 0},
                        {R"({"ph": 1})", 0},
                        {R"(},{"ph")", 2},
                        {R"(},{"p)", 0},
                        {"},\r\n\t{ \"tid\": 1", 5},
                        {R"(},{"ph": 1, "args": {"name")", 2},
                        {R"([{"ph": 1}, {"args": {}}, {"id": 1)", 12},
                        {R"([{"ph": 1} {"args")", 0}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(last_event_start(c.text) == c.last);
    CHECK(first_event_start(c.text, 0) == (c.last > 0 ? c.last : std::string_view(c.text).size()));
  }
}

TEST_CASE("parts, and what is left of them, are the stream") {
  const std::string text = long_trace("", "");
  for (const std::size_t taken : {std::size_t{0}, std::size_t{3}, std::size_t{1000}}) {
    Parts parts(memory_source(text, 70'000));
    std::vector<Block> given;
    std::string seen;
    for (Block block; given.size() < taken && parts.next(block); block = {}) {
      seen += block.bytes();
      CHECK(parts.offset() == seen.size());
      CHECK(text[seen.size()] == '{');
      given.push_back(std::move(block));
    }
    CHECK(given.size() >= std::min<std::size_t>(taken, 4));
    const auto rest = parts.rest(std::move(given));
    std::string all;
    for (char piece[5000]; const auto n = rest->read(piece, sizeof piece);) {
      if (*n == 0) break;
      all.append(piece, *n);
    }
    CHECK((all == text));
  }
}
