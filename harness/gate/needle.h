#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gate/answer.h"

namespace bk::gate {

/// One planted fact: the sentence in the document, what is asked, and what a right answer holds.
struct Fact {
  std::string sentence;
  std::string question;
  Expected expected;
};

/// A draw from [0, bound), bound > 0: the caller's generator, so that the same seed plants the same facts.
using Draw = std::function<std::uint64_t(std::uint64_t bound)>;

/// Three facts whose values the draw decides: a number, a name with a date, a tag with a place.
[[nodiscard]] std::array<Fact, 3> draw_facts(const Draw& draw);

/// Four filler chunks with the facts' sentences between them, one a line: depths 25, 50 and 75 % when chunks are equal.
[[nodiscard]] std::string plant(const std::array<std::string, 4>& chunks, const std::array<Fact, 3>& facts);

/// The user message: a short instruction, the document, then the one question.
[[nodiscard]] std::string ask(const std::string& document, const std::string& question);
/// One question for all three facts in one reply.
[[nodiscard]] Fact all_of(const std::array<Fact, 3>& facts);

}  // namespace bk::gate
