#include "stream/sse.h"

#include <catch2/catch.hpp>
#include <random>

#include "replay.h"

using namespace bk;
using namespace bk::stream;
using namespace bk::stream::test;

namespace {

struct Seen {
  bool stray = false;
  std::string type, data, id;
  bool operator==(const Seen&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << (seen.stray ? "stray " : "event ") << seen.type << '[' << seen.data << ']' << seen.id;
}

void drain(SseParser& parser, std::vector<Seen>& seen) {
  while (const SseEvent* event = parser.next()) {
    seen.push_back({event->kind == SseEvent::Kind::kStrayLine, std::string(event->type), std::string(event->data),
                    std::string(event->id)});
    // The promise behind a view: so many bytes may be read. Sanitizers watch.
    volatile char sink = 0;
    for (std::size_t i = 0; i < event->data.size() + event->readable_after; ++i) sink = event->data.data()[i];
    (void)sink;
  }
}

// Each piece lies in a block of its own, so that a read outside it is seen.
std::vector<Seen> parse(const std::vector<std::string_view>& pieces, bool finish = true,
                        std::size_t limit = SseParser::kDefaultMaxBytes) {
  SseParser parser(limit);
  std::vector<Seen> seen;
  for (const std::string_view piece : pieces) {
    const std::vector<char> block(piece.begin(), piece.end());
    parser.feed({block.data(), block.size()});
    drain(parser, seen);
  }
  if (finish) {
    parser.finish();
    drain(parser, seen);
  }
  if (parser.overflowed()) seen.push_back({true, "overflow", "", ""});
  return seen;
}

std::vector<Seen> parse(std::string_view bytes, bool finish = true) {
  return parse(std::vector<std::string_view>{bytes}, finish);
}

}  // namespace

TEST_CASE("events follow the format") {
  struct Row {
    const char* what;
    std::string bytes;
    std::vector<Seen> want;
  };
  const std::vector<Row> rows = {
      {"one line", "data: a\n\n", {{false, "", "a", ""}}},
      {"only one blank is dropped", "data:  a \n\n", {{false, "", " a ", ""}}},
      {"no blank", "data:a\n\n", {{false, "", "a", ""}}},
      {"several data lines", "data: a\ndata: b\ndata\ndata:\n\n", {{false, "", "a\nb\n\n", ""}}},
      {"an empty data line is an event", "data:\n\n", {{false, "", "", ""}}},
      {"a data line without a colon", "data\n\ndata\ndata\n\n", {{false, "", "", ""}, {false, "", "\n", ""}}},
      {"type and id",
       "event: error\nid: 7\ndata: x\n\ndata: y\n\n",
       {{false, "error", "x", "7"}, {false, "", "y", "7"}}},
      {"a type without data is forgotten", "event: error\n\ndata: y\n\n", {{false, "", "y", ""}}},
      {"an id with NUL is ignored", std::string("id: a\0b\ndata: y\n\n", 16), {{false, "", "y", ""}}},
      {"comments", ": ping\n\n:\n\ndata: y\n: in between\ndata: z\n\n", {{false, "", "y\nz", ""}}},
      {"CR alone", "data: a\rdata: b\r\rdata: c\r\r", {{false, "", "a\nb", ""}, {false, "", "c", ""}}},
      {"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", {{false, "", "a", ""}, {false, "", "b", ""}}},
      {"LF then CR", "data: a\n\rdata: b\n\r", {{false, "", "a", ""}, {false, "", "b", ""}}},
      {"CR then CRLF", "data: a\r\r\ndata: b\n\n", {{false, "", "a", ""}, {false, "", "b", ""}}},
      {"BOM",
       "\xEF\xBB\xBF"
       "data: a\n\n",
       {{false, "", "a", ""}}},
      {"a second BOM is text",
       "\xEF\xBB\xBF\xEF\xBB\xBF"
       "data: a\n\n",
       {{true, "",
         "\xEF\xBB\xBF"
         "data: a",
         ""}}},
      {"blank lines alone", "\n\r\n\r\n\n", {}},
      {"unknown fields",
       "error: {\"a\":1}\nDATA: x\n\n",
       {{true, "", "error: {\"a\":1}", ""}, {true, "", "DATA: x", ""}}},
      {"an unframed body", "{\"error\":\"x\"}", {{true, "", "{\"error\":\"x\"}", ""}}},
      {"no last blank line", "data: a\n\ndata: b\n", {{false, "", "a", ""}, {false, "", "b", ""}}},
      {"no last line end", "data: a", {{false, "", "a", ""}}},
      {"nothing", "", {}},
      {"a BOM alone", "\xEF\xBB\xBF", {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(parse(row.bytes) == row.want);
    for (std::size_t i = 0; i <= row.bytes.size(); ++i) {
      for (std::size_t j = i; j <= row.bytes.size(); ++j) REQUIRE(parse(cut(row.bytes, {i, j})) == row.want);
    }
  }
}

TEST_CASE("without finish an open event is not given") {
  CHECK(parse("data: a\n\ndata: b\n", false).size() == 1);
  CHECK(parse("data: a", false).empty());
}

TEST_CASE("retry is kept when it is a number") {
  SseParser parser;
  parser.feed("retry: 1500\nretry: soon\nretry: -1\n\n");
  CHECK(parser.next() == nullptr);
  CHECK(parser.retry_ms() == 1500);
}

TEST_CASE("an event that lies whole in the bytes is a view into them") {
  const std::string bytes = "data: {\"a\":1}\n\ndata: [DONE]\n\n";
  SseParser parser;
  parser.feed(bytes);
  const SseEvent* first = parser.next();
  REQUIRE(first != nullptr);
  CHECK(first->data.data() == bytes.data() + 6);
  CHECK(first->readable_after == bytes.size() - 13);
}

TEST_CASE("the limit is the same for every split") {
  const std::string line(100, 'x');
  struct Row {
    const char* what;
    std::string bytes;
    std::size_t events;  // before the overflow
    bool overflow;
  };
  const std::vector<Row> rows = {
      {"a line at the limit", "data: a\n\n" + line + "\n", 2, false},
      {"a line above it", "data: a\n\n" + line + "x\n", 1, true},
      {"an open line above it", "data: a\n\n" + line + "x", 1, true},
      {"data lines that add up", "data:" + line.substr(10) + "\ndata:" + line.substr(10) + "\n\n", 0, true},
      {"a comment above it", ":" + line + "\ndata: a\n\n", 0, true},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto whole = parse({row.bytes}, true, 100);
    CHECK(whole.size() == row.events + (row.overflow ? 1 : 0));
    for (std::size_t i = 0; i <= row.bytes.size(); ++i) REQUIRE(parse(cut(row.bytes, {i}), true, 100) == whole);
  }
}

TEST_CASE("a line of megabytes is one event") {
  const std::string text(3'000'000, 'y');
  const std::string bytes = "data: " + text + "\n\n";
  const auto seen = parse(cut(bytes, {1, 1'000'000, 1'000'001, 2'999'999}));
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].data == text);
}

TEST_CASE("hostile splits of a chat stream change nothing") {
  for (const char* name :
       {"01-sse-split-bytes/stream.sse", "02-sse-line-endings/crlf.sse", "02-sse-line-endings/cr.sse",
        "02-sse-line-endings/mixed.sse", "02-sse-line-endings/bom-lf.sse"}) {
    INFO(name);
    const std::string bytes = fixture(name);
    const auto whole = parse(bytes);
    CHECK(whole.size() == 7);
    for (std::size_t i = 1; i < bytes.size(); ++i) REQUIRE(parse(cut(bytes, {i})) == whole);
    for (std::size_t i = 1; i < bytes.size(); i += 13) {
      for (std::size_t j = i; j < bytes.size(); j += 3) REQUIRE(parse(cut(bytes, {i, j})) == whole);
    }
  }
}

TEST_CASE("random bytes of the format's alphabet give the same events for random splits") {
  const std::vector<std::string> words = {
      "\n",       "\r", "\r\n", "\n\n", "data:",        "data: ",   "data", "id: 4",    "event:",
      "error: ",  ":",  ": c",  "x",    "\xEF\xBB\xBF", "\xC3\xA9", " ",    "retry: 5", "data: [DONE]\n\n",
      "{\"a\":1}"};
  std::mt19937 random(20261129);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    const std::size_t count = random() % 24;
    for (std::size_t i = 0; i < count; ++i) bytes += words[random() % words.size()];
    const auto whole = parse(bytes);
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i <= bytes.size(); ++i) {
      if (random() % 4 == 0) positions.push_back(i);
    }
    INFO(bytes);
    REQUIRE(parse(cut(bytes, positions)) == whole);
  }
}
