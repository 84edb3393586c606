#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bk::load {

/// What makes ids of one piece of text: merges of byte pairs, or the longest known piece at each place.
struct TokenModel {
  enum class Kind { kBpe, kWordPiece } kind = Kind::kBpe;
  std::unordered_map<std::string, std::int32_t> ids;          ///< by the byte-level spelling
  std::unordered_map<std::string, std::int32_t> merge_ranks;  ///< "left right"
  bool whole_first = false;                                   ///< BPE: a piece that is a token is not merged
  std::int32_t unknown = -1;                                  ///< WordPiece; -1: none
  std::size_t longest_word = 100;                             ///< WordPiece: characters; a longer one is unknown

  /// Appends the ids of one byte-level spelled piece; what no id stands for is left out, as the model does.
  void encode(std::string_view piece, std::vector<std::int32_t>& out) const;

 private:
  void merge(std::string_view piece, std::vector<std::int32_t>& out) const;
  void longest(std::string_view piece, std::vector<std::int32_t>& out) const;
};

}  // namespace bk::load
