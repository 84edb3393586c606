#include "leg/needle_prompts.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/text.h"

namespace bk::leg {
namespace {

/// A tokenizer of 4 bytes a token with a template of 20 tokens.
Result<std::int64_t> count_bytes(const std::string& prompt) {
  return static_cast<std::int64_t>(prompt.size()) / 4 + 20;
}

std::int64_t longest(const NeedleDocument& document, const load::TokenCounter& count) {
  std::int64_t most = 0;
  for (const gate::Fact& fact : document.facts) most = std::max(most, count(document.prompt(fact)).value());
  return most;
}

TEST_CASE("a document is fitted to exactly the tokens that were asked for, at every size") {
  for (const std::int64_t tokens : {200, 512, 2048, 2049, 4095, 32768}) {
    for (const std::uint64_t seed : {1, 7, 99}) {
      INFO(tokens << " " << seed);
      const auto document = fit_document(seed, tokens, count_bytes);
      REQUIRE(document);
      CHECK(longest(*document, count_bytes) == tokens);
      for (const gate::Fact& fact : document->facts) {
        CHECK(document->text.find("\n" + fact.sentence + "\n") != std::string::npos);
        CHECK(count_bytes(document->prompt(fact)).value() <= tokens);
      }
    }
  }
}

TEST_CASE("a counter whose words are coarse is never overshot, and few counts are spent") {
  for (const double per_word : {1.0, 1.7, 3.2, 9.0}) {
    int counts = 0;
    const auto count = [&](const std::string& prompt) -> Result<std::int64_t> {
      ++counts;
      return static_cast<std::int64_t>(per_word * static_cast<double>(split(prompt, ' ').size()));
    };
    const auto document = fit_document(3, 2048, count);
    REQUIRE(document);
    CHECK(counts <= 23);
    const auto size = longest(*document, count);
    CHECK(size <= 2048);
    CHECK(size >= 2048 - 10);
  }
}

TEST_CASE("facts stand at a quarter, the half and three quarters of the document, the same for any size") {
  const NeedleDocument small = needle_document(11, 400, 0);
  const NeedleDocument large = needle_document(11, 40000, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(small.facts[i].sentence == large.facts[i].sentence);
    const double depth =
        static_cast<double>(large.text.find(large.facts[i].sentence)) / static_cast<double>(large.text.size());
    CHECK(depth == Approx(0.25 * static_cast<double>(i + 1)).margin(0.01));
  }
  CHECK(needle_document(11, 400, 0).text == small.text);
  CHECK(needle_document(12, 400, 0).text != small.text);
}

TEST_CASE("a context that cannot hold the question is refused, and a counter's error is passed on") {
  CHECK(fit_document(1, 50, count_bytes).error().code == Errc::kUsage);
  const auto broken = [](const std::string&) -> Result<std::int64_t> { return fail(Errc::kConnect, "gone"); };
  CHECK(fit_document(1, 2048, broken).error().code == Errc::kConnect);
}

}  // namespace
}  // namespace bk::leg
