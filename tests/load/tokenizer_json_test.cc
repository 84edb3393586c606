// Tokens of a tokenizer.json, beside those that Hugging Face's own library gives.
#include "load/tokenizer_json.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "load/ascii_pattern.h"
#include "load/prompts.h"
#include "support/hugging_face.h"

namespace bk::load {
namespace {

std::optional<std::size_t> matched(const char* pattern, std::string_view text) {
  const auto parsed = AsciiPattern::parse(pattern);
  INFO(pattern);
  REQUIRE(parsed);
  return parsed->match(text, 0);
}

/// A byte-level BPE of the letters a to d, the blank and the digits.
std::string bpe(const std::string& changed_key = {}, const std::string& value = {}) {
  const auto member = [&](const char* key, const char* normal) {
    return std::string("\"") + key + "\":" + (changed_key == key ? value : normal);
  };
  return "{" + member("added_tokens", R"([{"id":99,"content":"<end>"}])") + "," + member("normalizer", "null") + "," +
         member("pre_tokenizer", R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})") +
         R"(,"model":{)" + member("type", "\"BPE\"") + "," + member("byte_fallback", "false") + "," +
         member("ignore_merges", "false") + R"(,"vocab":{"a":0,"b":1,"c":2,"d":3,"Ġ":4,"ab":5,"cd":6,"abcd":7,)" +
         R"("Ġab":8,"1":9,"2":10,"bc":11,"abc":12},)" + member("merges", R"(["b c","a b","c d","ab cd","Ġ ab"])") +
         "}}";
}

std::vector<std::int32_t> ids_of(const std::string& file, std::string_view text) {
  const auto tokenizer = TokenizerJson::parse(file, "t.json");
  REQUIRE(tokenizer);
  const auto ids = tokenizer->encode(text);
  REQUIRE(ids);
  return *ids;
}

std::string refusal_of(const std::string& file) {
  const auto tokenizer = TokenizerJson::parse(file, "t.json");
  REQUIRE_FALSE(tokenizer);
  CHECK(tokenizer.error().code == Errc::kUsage);
  CHECK(tokenizer.error().where == "t.json");
  return tokenizer.error().what;
}

TEST_CASE("A pattern matches as a backtracking engine does") {
  CHECK(matched("a|ab", "ab") == 1);  // the first alternative, not the longest
  CHECK(matched("(?:a|ab)c", "abc") == 3);
  CHECK(matched("a*ab", "aaab") == 4);
  CHECK_FALSE(matched("a*+ab", "aaab"));  // possessive: nothing is given back
  CHECK(matched("(?:ab)*+a", "ababa") == 5);
  CHECK(matched("a+?", "aaa") == 1);
  CHECK(matched("(?:ab){2,3}", "abababab") == 6);
  CHECK_FALSE(matched("(?:ab){2}", "ab"));
  CHECK(matched(R"(\s+(?!\S))", "   x") == 2);
  CHECK(matched(R"(\s+(?!\S))", "   ") == 3);
  CHECK(matched("(?i:'s|'LL)", "'ll") == 3);
  CHECK(matched("(?i:[^A-Y]+)", "zZa") == 2);
  CHECK(matched(R"([^\r\n\p{L}\p{N}]?\p{L}+)", "(word1") == 5);
  CHECK(matched(R"(\p{N}{1,3})", "12345") == 3);
  CHECK(matched(R"(\P{N}+)", "ab1") == 2);
  CHECK(matched(R"([\p{P}\p{S}]+)", "!$+~") == 4);
  CHECK(matched("[가-힣a-c]+", "abcd") == 3);
  CHECK(matched("[\\]a-]+", "-a]b") == 3);
  CHECK(matched("(?:a?)*b", "aab") == 3);  // a repetition of nothing ends
}

TEST_CASE("A pattern that is not supported is refused by the construct's name") {
  const std::pair<const char*, const char*> cases[] = {
      {"^a", "anchor"},         {"(?<=a)b", "(?<"},   {"\\p{Greek}", "Greek"}, {"\\bword", "\\b"},
      {"(a", "not closed"},     {"[a", "not closed"}, {"a)", "parenthesis"},   {"[a[b]]", "class"},
      {"a{3,1}", "repetition"}, {"[b-a]", "range"},   {"a\\", "backslash"},    {"\\1", "\\1"}};
  for (const auto& [pattern, name] : cases) {
    INFO(pattern);
    const auto parsed = AsciiPattern::parse(pattern);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::kUsage);
    CHECK(parsed.error().what.find(name) != std::string::npos);
  }
  CHECK_FALSE(AsciiPattern::parse(std::string(200, '(') + std::string(200, ')')));
}

TEST_CASE("Byte-level BPE merges by rank, the leftmost first") {
  using Ids = std::vector<std::int32_t>;
  CHECK(ids_of(bpe(), "abcd") == Ids{0, 11, 3});  // "b c" is the first merge, and "a bc" none
  CHECK(ids_of(bpe(), "ab cd ab") == Ids{5, 4, 6, 8});
  CHECK(ids_of(bpe("ignore_merges", "true"), "abcd") == Ids{7});
  CHECK(ids_of(bpe("merges", R"([["a","b"],["c","d"],["ab","cd"]])"), "abcdab") == Ids{7, 5});
  CHECK(ids_of(bpe(), "").empty());
  CHECK(ids_of(bpe("pre_tokenizer", R"({"type":"ByteLevel","add_prefix_space":true,"use_regex":false})"), "ab") ==
        Ids{8});
  const std::string digits = R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},)"
                             R"({"type":"Split","pattern":{"String":"c"},"behavior":"Removed","invert":false},)"
                             R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})";
  CHECK(ids_of(bpe("pre_tokenizer", digits), "ab12cab") == Ids{5, 9, 10, 5});
}

TEST_CASE("What would be counted wrongly is refused by name") {
  CHECK(refusal_of(bpe("type", "\"Unigram\"")).find("Unigram") != std::string::npos);
  CHECK(refusal_of(bpe("byte_fallback", "true")).find("byte_fallback") != std::string::npos);
  CHECK(refusal_of(bpe("pre_tokenizer", R"({"type":"Metaspace"})")).find("Metaspace") != std::string::npos);
  CHECK(refusal_of(bpe("pre_tokenizer", "null")).find("ByteLevel") != std::string::npos);
  CHECK(refusal_of(bpe("normalizer", R"({"type":"Lowercase"})")).find("Lowercase") != std::string::npos);
  CHECK(refusal_of(bpe("merges", "null")).find("merges") != std::string::npos);
  CHECK(TokenizerJson::parse("{", "t.json").error().code == Errc::kParse);
  CHECK(TokenizerJson::load("/nowhere/tokenizer.json").error().code == Errc::kIo);
  const auto tokenizer = TokenizerJson::parse(bpe(), "t.json");
  REQUIRE(tokenizer);
  CHECK(tokenizer->encode("caf\xc3\xa9").error().code == Errc::kUsage);
  CHECK(tokenizer->encode("a<end>b").error().code == Errc::kUsage);
}

// It trains small vocabularies on the texts, so that merges of all lengths occur, and says what it makes of each text.
const char* const kOracle = R"(
import json, sys
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
texts = json.loads(sys.argv[2])
level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
split = lambda pattern, how="isolated", invert=False: pre_tokenizers.Split(Regex(pattern), how, invert)
words = r"[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
kinds = {
    "bytes": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "blank": pre_tokenizers.ByteLevel(add_prefix_space=True),
    "digits": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                       pre_tokenizers.ByteLevel(add_prefix_space=False)]),
    "split": pre_tokenizers.Sequence([split(r"(?i:'s|'re|'ve|'ll)|" + words), level]),
    "inverted": pre_tokenizers.Sequence([split(words, "removed", True), level]),
    "steps": pre_tokenizers.Sequence([split(r"\p{N}{1,3}"), split(r"[가-힣]+"),
                                      split(r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
                                            r"\s*[\r\n]+|\s+(?!\S)|\s+"), level]),
}
out = {}
for name, steps in kinds.items():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = steps
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=["<end>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    t.train_from_iterator(texts, trainer)
    t.save(f"{sys.argv[1]}/{name}.json")
    out[name] = [t.encode(x, add_special_tokens=False).ids for x in texts]
print(json.dumps(out))
)";

TEST_CASE("Hugging Face tokenizers give the same ids") {
  const auto python = test::python_with_tokenizers();
  if (!python) return;
  Random random(7);
  const std::vector<std::string> texts = {
      prefill_prompt(Vocabulary::kEnglish20, 200, 1),
      filler(Vocabulary::kEnglish12, 100, random),
      nonce(3),
      "It's what we've seen; they'LL say: \"(no) 1234567 [ref 0a1b-99]\".\n\n  indented\r\n\ttab  two   three ",
      "",
      "Warmup Warmup Warmup ",
      "x",
      "   ",
      "f1(a+b)==c*d != {e}[0] ~$%^ a_b\n",
      " 5f2c-4a11-8000 end"};
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  const TempDir dir;
  const auto ran = run_captured({{*python, "-c", kOracle, dir.path(), list.dump()}, {}, {}, {}}, 120 * kSecond);
  REQUIRE(ran);
  INFO(ran->err);
  REQUIRE(ran->exit.ok());
  const auto kinds = parse_json(ran->out);
  REQUIRE(kinds);
  REQUIRE(kinds->members().size() == 6);
  for (const auto& [kind, expected] : kinds->members()) {
    const auto tokenizer = TokenizerJson::load((dir.path() / (kind + ".json")).string());
    INFO(kind);
    REQUIRE(tokenizer);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO(texts[i]);
      std::vector<std::int32_t> ids;
      for (const Json& id : expected.items().at(i).items()) ids.push_back(static_cast<std::int32_t>(*id.as_int()));
      CHECK(*tokenizer->encode(texts[i]) == ids);
    }
  }
}

}  // namespace
}  // namespace bk::load
