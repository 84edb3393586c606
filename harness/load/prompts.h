#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "load/random.h"

namespace bk::load {

/// A fixed list of nouns that fillers draw from.
enum class Vocabulary {
  kKorean20,   ///< 20 Korean nouns of solar power, about 2.4 tokens a word on the lanes' tokenizers
  kEnglish20,  ///< 20 English nouns, about 1.3 tokens a word
  kEnglish14,  ///< the first 14 of them
  kEnglish12,  ///< the first 12
};
[[nodiscard]] const std::vector<std::string_view>& words_of(Vocabulary vocabulary);

/// `count` independent uniform choices joined by one space; empty for count <= 0.
[[nodiscard]] std::string filler(Vocabulary vocabulary, std::int64_t count, Random& random);
/// Words for about `tokens` English tokens: floor(tokens / 1.3). Source: the historical tools' rule.
[[nodiscard]] std::int64_t words_for_tokens(std::int64_t tokens);

/// The seed that was given; for 0 one of this moment, so that the prompts are new ones.
[[nodiscard]] std::uint64_t seed_or_new(std::uint64_t given);
/// "[ref 5f2c-…] ": put first, it keeps a prefix cache from answering for an earlier prompt. Same seed, same nonce.
[[nodiscard]] std::string nonce(std::uint64_t seed);

/// One of ten Korean energy topics with the seed printed first as a reference number: the decode bench's request.
[[nodiscard]] std::string decode_prompt(std::uint64_t seed);
/// A seed's nonce, then filler, then an end mark that asks for one word: a cold prefill of about `words` words.
[[nodiscard]] std::string prefill_prompt(Vocabulary vocabulary, std::int64_t words, std::uint64_t seed);

}  // namespace bk::load
