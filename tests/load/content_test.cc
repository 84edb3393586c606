// The content sets: fixed by their hash, told apart by their names.
#include "load/content.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/text.h"

namespace bk::test {
namespace {

TEST_CASE("Every set has short and long answers, and prompts of its own") {
  std::set<std::string> texts, hashes;
  std::size_t prompts = 0;
  for (const load::ContentSet& set : load::content_sets()) {
    CAPTURE(std::string(set.name));
    int lengths[2] = {0, 0};
    for (const load::ContentPrompt& prompt : set.prompts) {
      ++lengths[prompt.long_answer ? 1 : 0];
      ++prompts;
      texts.emplace(prompt.text);
      CHECK(is_utf8(prompt.text));
    }
    CHECK(lengths[0] == 3);
    CHECK(lengths[1] == 3);
    hashes.insert(set.hash());
  }
  CHECK(load::content_sets().size() == 7);
  CHECK(texts.size() == prompts);
  CHECK(hashes.size() == 7);
}

TEST_CASE("A set's hash is fixed: a changed prompt needs a new version") {
  const std::pair<const char*, const char*> known[] = {
      {"prose", "4212950d5c74a94e86b892a82637507bbde4a83f0cd72eb913bcec28863cb685"},
      {"code", "e6d9c59beeaf69002a423e33ba63b2a8272c365d8f5b8e2f877cc6e3cde65d93"},
      {"json", "f329d1500a2228308fc06a7a86a95ae808704ba0efa6ce5f6a62a82fffc983b3"},
      {"math", "58e2fa06736bd16b83c429610ec89b6c8ce7945ad1d398f96f605a473f748c3a"},
      {"chat", "bab0118580083b8f896110237ae7efa12fb98865b07223fd628245d097592a2d"},
      {"korean", "89cc74ce673c349cade9e7bbc9673fef083886b890f6e4bd5906b24fac2bfc60"},
      {"structured", "c23876a6b21a8bdb2f7c984bc262f82892a993695fc6eff7c4d74db76b32ebc1"},
  };
  for (const auto& [name, hash] : known) {
    REQUIRE(load::find_content(name) != nullptr);
    CHECK(load::find_content(name)->version == 1);
    CHECK(load::find_content(name)->hash() == hash);
  }
  load::ContentSet other = *load::find_content("code");
  other.version = 2;
  CHECK(other.hash() != load::find_content("code")->hash());
}

TEST_CASE("Prompts go round, each behind its own reference number") {
  const load::ContentSet& math = *load::find_content("math");
  CHECK(math.prompt(false, 0, 9) == "[ref 9] What is 17 times 23? Show the one step that you used.");
  CHECK(math.prompt(false, 3, 9) == math.prompt(false, 0, 9));
  CHECK(math.prompt(false, 1, 9) != math.prompt(false, 0, 9));
  CHECK(math.prompt(true, 0, 9) != math.prompt(false, 0, 9));
}

TEST_CASE("A mix names sets and weights") {
  const auto mix = load::parse_content("prose=2, code=0.5,json");
  REQUIRE(mix);
  REQUIRE(mix->size() == 3);
  CHECK((*mix)[0].set->name == "prose");
  CHECK((*mix)[0].weight == 2);
  CHECK((*mix)[1].weight == 0.5);
  CHECK((*mix)[2].weight == 1);
  CHECK(load::parse_content("all")->size() == 7);
  const auto misspelt = load::parse_content("prsoe");
  REQUIRE_FALSE(misspelt);
  CHECK(misspelt.error().what == "there is no content set 'prsoe'; did you mean prose?");
  for (const char* bad : {"code=0", "code=-1", "code=x", "code,code", "", "all,code"}) {
    CAPTURE(bad);
    const auto refused = load::parse_content(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::kUsage);
  }
}

}  // namespace
}  // namespace bk::test
