#include "gate/needle.h"

#include <catch2/catch.hpp>
#include <set>

namespace bk::gate {
namespace {

Draw draw_from(std::uint64_t seed) {
  return [state = seed](std::uint64_t bound) mutable {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % bound;
  };
}

Scored reply(const std::string& content, const Fact& fact) {
  Answer answer;
  answer.content = content;
  answer.finish_reason = "stop";
  return score_answer(answer, fact.expected);
}

TEST_CASE("the planted sentence answers its own question and no other, for every seed") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto facts = draw_facts(draw_from(seed));
    for (std::size_t i = 0; i < facts.size(); ++i) {
      for (std::size_t k = 0; k < facts.size(); ++k) {
        INFO(seed << ": " << facts[k].sentence << " for " << facts[i].question);
        CHECK((reply(facts[k].sentence, facts[i]).verdict == AnswerVerdict::kPass) == (i == k));
      }
    }
    const Fact all = all_of(facts);
    CHECK(reply(all.sentence, all).verdict == AnswerVerdict::kPass);
    CHECK(reply(facts[0].sentence + facts[1].sentence, all).verdict == AnswerVerdict::kMiss);
  }
}

TEST_CASE("values follow the seed: the same again, others for another seed") {
  std::set<std::string> documents;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto facts = draw_facts(draw_from(seed));
    CHECK(facts[0].sentence == draw_facts(draw_from(seed))[0].sentence);
    documents.insert(facts[0].sentence + facts[1].sentence + facts[2].sentence);
  }
  CHECK(documents.size() == 50);
}

TEST_CASE("facts stand between the four chunks, in order, and the question comes last") {
  const auto facts = draw_facts(draw_from(1));
  const std::string document = plant({"aa", "bb", "cc", "dd"}, facts);
  CHECK(document == "aa\n" + facts[0].sentence + "\nbb\n" + facts[1].sentence + "\ncc\n" + facts[2].sentence + "\ndd");
  const std::string prompt = ask(document, facts[2].question);
  CHECK(prompt.find(document) != std::string::npos);
  CHECK(prompt.ends_with(facts[2].question));
  for (const Fact& fact : facts) {
    for (const std::string& value : fact.expected.accept_all_of) CHECK(fact.question.find(value) == std::string::npos);
  }
}

}  // namespace
}  // namespace bk::gate
