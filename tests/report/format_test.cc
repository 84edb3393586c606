#include "report/format.h"

#include <catch2/catch.hpp>

#include "report/csv.h"
#include "report/markdown.h"
#include "report/table.h"

using namespace bk;
using namespace bk::report;

namespace {

Records sample_records() {
  Records r;
  r.columns = {{"arm", "arm", "", Align::kLeft, 4},
               {"decode_tok_s", "decode", "tok/s", Align::kRight, 4},
               {"ok", "", "", Align::kLeft, 4}};
  r.rows = {{Json("base"), Json(62.114159), Json(true)}, {Json("후보, \"a|b\""), Json(), Json(false)}};
  r.meta = Json::object();
  r.meta.set("schema_version", 1);
  return r;
}

}  // namespace

TEST_CASE("one list of records prints in every format") {
  const Records r = sample_records();
  CHECK(render(r, Format::kTable) ==
        "arm          decode [tok/s]  ok\n"
        "-----------  --------------  ---\n"
        "base                  62.11  yes\n"
        "후보, \"a|b\"               -  no\n");
  CHECK(render(r, Format::kMarkdown) ==
        "| arm          | decode [tok/s] | ok  |\n"
        "| ------------ | -------------: | --- |\n"
        "| base         |          62.11 | yes |\n"
        "| 후보, \"a\\|b\" |              - | no  |\n");
  CHECK(render(r, Format::kCsv) ==
        "arm,decode_tok_s,ok\n"
        "base,62.114159,true\n"
        "\"후보, \"\"a|b\"\"\",,false\n");
  CHECK(render(r, Format::kJsonl) ==
        "{\"arm\":\"base\",\"decode_tok_s\":62.114159,\"ok\":true}\n"
        "{\"arm\":\"후보, \\\"a|b\\\"\",\"decode_tok_s\":null,\"ok\":false}\n");
  const auto document = parse_json(render(r, Format::kJson));
  REQUIRE(document);
  CHECK((*document)["schema_version"].as_int() == 1);
  CHECK((*document)["rows"].items().size() == 2);
  CHECK((*document)["rows"].items()[1].find("decode_tok_s")->is_null());
}

TEST_CASE("no rows still say what the columns are") {
  Records r = sample_records();
  r.rows.clear();
  CHECK(render(r, Format::kTable) == "arm  decode [tok/s]  ok\n---  --------------  --\n");
  CHECK(render(r, Format::kCsv) == "arm,decode_tok_s,ok\n");
  CHECK(render(r, Format::kJsonl).empty());
}

TEST_CASE("formats are named, and a wrong name says which there are") {
  for (const char* name : {"table", "json", "jsonl", "csv", "md"})
    CHECK(to_string(parse_format(name).value()) == std::string(name));
  CHECK(parse_format("xml").error().code == Errc::kUsage);
  CHECK(parse_format("xml").error().what == "unknown format 'xml'; one of table, json, jsonl, csv, md");
}

TEST_CASE("width is what a terminal shows") {
  struct Case {
    const char* text;
    std::size_t width;
  };
  const Case cases[] = {{"", 0},           {"abc", 3},      {"한국어", 6}, {"e\u0301", 1},  {"\u1112\u1161\u11ab", 2},
                        {"漢字 ab", 7},    {"\u2192", 1},   {"·", 1},      {"\xff\xfe", 2}, {"\xed\x95", 2},
                        {"\U0001F600", 2}, {"a\u200bb", 2}, {"ｆｗ", 4},   {"a\x7f\tb", 2}};
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(display_width(c.text) == c.width);
  }
  CHECK(clip("한국어", 5) == "한국");
  CHECK(clip("abc", 3) == "abc");
  CHECK(clip("abc", 0).empty());
  CHECK(pad("한", 4, Align::kRight) == "  한");
  CHECK(pad("한국어", 2, Align::kLeft) == "한국어");
}

TEST_CASE("a table has no blanks at line ends and no line breaks in cells") {
  CHECK(table({"a", "b"}, {Align::kLeft, Align::kLeft}, {{"x\ny", ""}, {"1"}}) == "a    b\n---  -\nx y\n1\n");
}

TEST_CASE("markdown cells cannot break out of their table") {
  CHECK(markdown_escape("a|b\\`c`*d*_e_[f]<g>&\r\nh") == "a\\|b\\\\\\`c\\`\\*d\\*\\_e\\_[f]&lt;g>&amp;<br>h");
  CHECK(markdown_escape("decode_tok_s 0 -> 1") == "decode_tok_s 0 -> 1");
  CHECK(markdown_escape("[a](b) [c][d] [e]") == "[a\\](b) [c\\][d] [e]");
  CHECK(markdown_escape("> quote _x") == "&gt; quote \\_x");
}

TEST_CASE("csv fields follow RFC 4180") {
  CHECK(csv_line({"a", "b,c", "d\"e", "f\ng", " h", ""}) == "a,\"b,c\",\"d\"\"e\",\"f\ng\",\" h\",\n");
}
