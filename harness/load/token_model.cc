#include "load/token_model.h"

#include <algorithm>
#include <limits>

namespace bk::load {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> out;
  for (const char c : text) {
    if (!continues(c)) out.emplace_back();
    if (!out.empty()) out.back() += c;
  }
  return out;
}

}  // namespace

void TokenModel::encode(std::string_view piece, std::vector<std::int32_t>& out) const {
  if (kind == Kind::kWordPiece) return longest(piece, out);
  if (whole_first) {
    if (const auto found = ids.find(std::string(piece)); found != ids.end()) return out.push_back(found->second);
  }
  merge(piece, out);
}

// The pair of lowest rank first, the leftmost of equals, until no pair is a merge.
void TokenModel::merge(std::string_view piece, std::vector<std::int32_t>& out) const {
  std::vector<std::string> symbols = characters_of(piece);
  while (symbols.size() > 1) {
    std::int32_t best = std::numeric_limits<std::int32_t>::max();
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = merge_ranks.find(symbols[i] + " " + symbols[i + 1]);
      if (found == merge_ranks.end() || found->second >= best) continue;
      best = found->second;
      at = i;
    }
    if (best == std::numeric_limits<std::int32_t>::max()) break;
    symbols[at] += symbols[at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  for (const std::string& symbol : symbols) {
    if (const auto found = ids.find(symbol); found != ids.end()) out.push_back(found->second);
  }
}

void TokenModel::longest(std::string_view piece, std::vector<std::int32_t>& out) const {
  const std::size_t before = out.size();
  const auto unknown_whole = [&] {
    out.resize(before);
    if (unknown >= 0) out.push_back(unknown);
  };
  if (characters_of(piece).size() > longest_word) return unknown_whole();
  while (!piece.empty()) {
    std::size_t length = piece.size();
    auto found = ids.end();
    for (; length > 0; --length) {
      if (length < piece.size() && continues(piece[length])) continue;
      found = ids.find(std::string(piece.substr(0, length)));
      if (found != ids.end()) break;
    }
    if (length == 0) return unknown_whole();
    out.push_back(found->second);
    piece.remove_prefix(length);
  }
}

}  // namespace bk::load
