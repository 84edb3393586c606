#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace bk::sim {

/// The engine's tokenizer: a split by fixed rules, then the longest known token at each place, with every byte a token
/// of last resort. Every text comes back from its tokens byte for byte. English takes about 1.3 tokens a word, Korean a
/// token a syllable. Ids: 0-255 bytes, then words, two- and three-digit numbers, Hangul syllables, and Hangul syllables
/// after a blank.
///
/// The same rules as a Hugging Face tokenizer.json: Split(regex) + ByteLevel, WordPiece without a prefix, ByteLevel
/// decoder.
class Tokenizer {
 public:
  Tokenizer();
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const;
  /// Appends the tokens of `text` to `out`.
  void encode_to(std::string_view text, std::vector<std::int32_t>& out) const;
  /// Bytes of one token; empty for an id that is not one.
  [[nodiscard]] std::string bytes_of(std::int32_t id) const;
  [[nodiscard]] std::string decode(const std::vector<std::int32_t>& ids) const;
  [[nodiscard]] std::int32_t size() const { return spaced_hangul_begin_ + kHangul; }
  /// The tokenizer.json that Hugging Face `tokenizers` loads to the same ids.
  [[nodiscard]] std::string to_hugging_face_json() const;

 private:
  static constexpr std::int32_t kHangul = 11172;
  void add(std::string token);
  void encode_piece(std::string_view piece, std::vector<std::int32_t>& out) const;
  std::vector<std::string> listed_;  // ids 256 up to hangul_begin_
  std::unordered_map<std::string, std::int32_t> ids_;
  std::size_t longest_ = 1;
  std::int32_t hangul_begin_ = 0, spaced_hangul_begin_ = 0;
};

/// Length of the front piece of a non-empty text: ` ?[A-Za-z]{1,16}| ?[0-9]{1,3}| ?[^A-Za-z0-9 \t\r\n]{1,8}|[ \t\r\n]`,
/// counted in characters, returned in bytes.
[[nodiscard]] std::size_t piece_length(std::string_view text);

}  // namespace bk::sim
