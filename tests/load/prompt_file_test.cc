#include "load/prompt_file.h"

#include <catch2/catch.hpp>

#include "base/file.h"

namespace bk::load {
namespace {

std::string written(const TempDir& dir, const std::string& text) {
  const std::string path = dir.path() / "mine.jsonl";
  REQUIRE(write_file_atomic(path, text));
  return path;
}

TEST_CASE("prompts of a file, one a line, blank lines and other members left out") {
  const TempDir dir;
  const auto file =
      read_prompt_file(written(dir, "{\"prompt\": \"태양광\", \"id\": 3}\n\n{\"prompt\":\"two\\nlines\"}"));
  REQUIRE(file);
  CHECK(file->prompts == std::vector<std::string>{"태양광", "two\nlines"});
  const ContentSet set = file->content();
  CHECK(set.name == "mine.jsonl");
  CHECK(set.prompt(true, 1, 7) == "[ref 7] two\nlines");
  CHECK(set.prompt(false, 0, 7).empty());
  const auto other = read_prompt_file(written(dir, "{\"prompt\": \"태양광\"}\n{\"prompt\":\"two lines\"}\n"));
  REQUIRE(other);
  CHECK(other->content().hash() != set.hash());
}

TEST_CASE("a wrong line is named") {
  const struct {
    const char* text;
    const char* where;
  } rows[] = {{"{\"prompt\": \"a\"}\n{\"prompt\": \"b\"", "mine.jsonl:2"},
              {"\n{\"text\": \"a\"}", "mine.jsonl:2"},
              {"{\"prompt\": \"  \"}", "mine.jsonl:1"},
              {"{\"prompt\": 3}", "mine.jsonl:1"},
              {"[]", "mine.jsonl:1"},
              {"", "mine.jsonl"}};
  const TempDir dir;
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto file = read_prompt_file(written(dir, row.text));
    REQUIRE_FALSE(file);
    CHECK(file.error().code == Errc::kUsage);
    const std::string where = file.error().where;
    CHECK(where.substr(where.rfind('/') + 1) == row.where);
  }
  CHECK(read_prompt_file((dir.path() / "absent").string()).error().code == Errc::kIo);
}

}  // namespace
}  // namespace bk::load
