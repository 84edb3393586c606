#include "tokenizer.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "support/hugging_face.h"

namespace bk::sim {
namespace {

const std::vector<std::string> kTexts = {
    "",
    " ",
    "The tide follows the moon.",
    "  two  blanks\n\nand\tlines\r\n",
    "태양광 발전은 꾸준히 늘어나고 있습니다.",
    "a가나 b 다ab",
    "antidisestablishmentarianism supercalifragilisticexpialidocious",
    "0 12 345 6789 1,000.50 x86-64",
    "emoji \xF0\x9F\x99\x82 and \xE4\xB8\xAD\xE6\x96\x87 and \xC3\xA9t\xC3\xA9",
    "{\"key\": [1, 2.5e-3, null]} // <|end|>",
    "ㅋㅋㅋ 힣각 \xEF\xBF\xBD",
    "MiXeD CaSe WORDS",
};

TEST_CASE("every text comes back from its tokens") {
  const Tokenizer tokenizer;
  for (const std::string& text : kTexts) CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte.push_back(static_cast<char>(byte));
  CHECK(tokenizer.decode(tokenizer.encode(every_byte)) == every_byte);
  CHECK(tokenizer.bytes_of(tokenizer.size()).empty());
}

TEST_CASE("pieces follow the rule that the exported regex states") {
  CHECK(piece_length("word next") == 4);
  CHECK(piece_length(" word next") == 5);
  CHECK(piece_length("  word") == 1);
  CHECK(piece_length("abcdefghijklmnopqrstuvwxyz") == 16);
  CHECK(piece_length("12345") == 3);
  CHECK(piece_length("\n\n") == 1);
  CHECK(piece_length("가나다라마바사아자") == 24);  // eight characters of three bytes
  CHECK(piece_length(" ") == 1);
}

TEST_CASE("English words take few tokens, Korean a token a syllable") {
  const Tokenizer tokenizer;
  CHECK(tokenizer.encode("river lantern copper meadow engine harbor pebble window thunder garden").size() == 10);
  CHECK(tokenizer.encode("태양광 인버터").size() == 6);
  const std::string prose =
      "The quiet harbor changes in the early morning and people walk along the coast without hurry";
  const double per_word = static_cast<double>(tokenizer.encode(prose).size()) / 16.0;
  CHECK(per_word >= 1.0);
  CHECK(per_word <= 1.5);
}

TEST_CASE("Hugging Face tokenizers give the same ids from the exported file") {
  const auto python = test::python_with_tokenizers();
  if (!python) return;
  const Tokenizer tokenizer;
  TempDir dir;
  const std::string file = (dir.path() / "tokenizer.json").string();
  REQUIRE(write_file_atomic(file, tokenizer.to_hugging_face_json()));
  Json texts = Json::array();
  for (const std::string& text : kTexts) texts.push(text);
  const std::string code =
      "import sys, json, tokenizers\n"
      "t = tokenizers.Tokenizer.from_file(sys.argv[1])\n"
      "texts = json.loads(sys.argv[2])\n"
      "ids = [t.encode(x).ids for x in texts]\n"
      "print(json.dumps({'ids': ids, 'back': [t.decode(i) for i in ids]}))\n";
  const auto ran = run_captured({{*python, "-c", code, file, texts.dump()}, {}, {}, {}}, 60 * kSecond);
  REQUIRE(ran);
  INFO(ran->err);
  REQUIRE(ran->exit.ok());
  const auto out = parse_json(ran->out);
  REQUIRE(out);
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    INFO(kTexts[i]);
    std::vector<std::int32_t> ids;
    for (const Json& id : (*out)["ids"].items().at(i).items()) ids.push_back(static_cast<std::int32_t>(*id.as_int()));
    CHECK(ids == tokenizer.encode(kTexts[i]));
    CHECK((*out)["back"].items().at(i).as_string() == kTexts[i]);
  }
}

}  // namespace
}  // namespace bk::sim
