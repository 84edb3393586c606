#include "tokenizer.h"

#include "base/text.h"
#include "words.h"

namespace bk::sim {
namespace {

enum class Kind { kLetter, kDigit, kBlank, kOther };

Kind kind_of(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::kLetter;
  if (c >= '0' && c <= '9') return Kind::kDigit;
  if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return Kind::kBlank;
  return Kind::kOther;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Index of a Hangul syllable at the front of `text` within U+AC00..U+D7A3, or -1.
std::int32_t hangul_index(std::string_view text) {
  if (text.size() < 3) return -1;
  const auto byte = [&](std::size_t i) { return static_cast<std::int32_t>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0xEA || byte(0) > 0xED || !continues(text[1]) || !continues(text[2])) return -1;
  const std::int32_t code = ((byte(0) & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F);
  return code >= 0xAC00 && code <= 0xD7A3 ? code - 0xAC00 : -1;
}

std::string hangul_bytes(std::int32_t index) {
  const std::int32_t code = 0xAC00 + index;
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

}  // namespace

std::size_t piece_length(std::string_view text) {
  const bool blank = text[0] == ' ' && text.size() > 1 && kind_of(text[1]) != Kind::kBlank;
  std::size_t at = blank ? 1 : 0;
  const Kind kind = kind_of(text[at]);
  if (kind == Kind::kBlank) return 1;
  const int most = kind == Kind::kLetter ? 16 : kind == Kind::kDigit ? 3 : 8;
  for (int characters = 0; characters < most && at < text.size() && kind_of(text[at]) == kind; ++characters) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
  }
  return at;
}

Tokenizer::Tokenizer() {
  ids_.reserve(8192);
  for (const std::string_view word : split(kVocabularyWords, ' ')) {
    add(std::string(word));
    add(" " + std::string(word));
  }
  for (char c = 'a'; c <= 'z'; ++c) add({' ', c});
  for (int n = 0; n < 100; ++n) add(fmt::format("{:02}", n));
  for (int n = 0; n < 1000; ++n) add(fmt::format("{:03}", n));
  hangul_begin_ = 256 + static_cast<std::int32_t>(listed_.size());
  spaced_hangul_begin_ = hangul_begin_ + kHangul;
}

void Tokenizer::add(std::string token) {
  if (token.size() < 2 || ids_.count(token) != 0) return;
  longest_ = std::max(longest_, token.size());
  ids_.emplace(token, 256 + static_cast<std::int32_t>(listed_.size()));
  listed_.push_back(std::move(token));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> out;
  out.reserve(text.size() / 4);
  encode_to(text, out);
  return out;
}

void Tokenizer::encode_to(std::string_view text, std::vector<std::int32_t>& out) const {
  while (!text.empty()) {
    const std::size_t length = piece_length(text);
    encode_piece(text.substr(0, length), out);
    text.remove_prefix(length);
  }
}

void Tokenizer::encode_piece(std::string_view piece, std::vector<std::int32_t>& out) const {
  std::string key;
  while (!piece.empty()) {
    const bool blank = piece[0] == ' ';
    const std::int32_t hangul = hangul_index(piece.substr(blank ? 1 : 0));
    if (hangul >= 0) {
      out.push_back((blank ? spaced_hangul_begin_ : hangul_begin_) + hangul);
      piece.remove_prefix(blank ? 4 : 3);
      continue;
    }
    std::size_t length = std::min(longest_, piece.size());
    for (; length > 1; --length) {
      key.assign(piece.substr(0, length));
      const auto found = ids_.find(key);
      if (found == ids_.end()) continue;
      out.push_back(found->second);
      break;
    }
    if (length <= 1) out.push_back(static_cast<unsigned char>(piece[0]));
    piece.remove_prefix(std::max<std::size_t>(1, length));
  }
}

std::string Tokenizer::bytes_of(std::int32_t id) const {
  if (id < 0 || id >= size()) return {};
  if (id < 256) return std::string(1, static_cast<char>(id));
  if (id < hangul_begin_) return listed_[static_cast<std::size_t>(id - 256)];
  if (id < spaced_hangul_begin_) return hangul_bytes(id - hangul_begin_);
  return " " + hangul_bytes(id - spaced_hangul_begin_);
}

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids) const {
  std::string text;
  for (const std::int32_t id : ids) text += bytes_of(id);
  return text;
}

}  // namespace bk::sim
