#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::load {

/// A Hugging Face tokenizer.json, for counting the tokens of ASCII text (all that prompts of a wanted size are made
/// of). Supported: byte-level BPE as the GPT-2, Llama 3, Qwen, DeepSeek and SmolLM families use it, and WordPiece
/// without a prefix after a byte-level step; pre-tokenizers ByteLevel, Split, Digits and sequences of them; the
/// normalizers that leave ASCII as it is. Everything else is refused by its name rather than counted wrongly.
class TokenizerJson {
 public:
  /// `path`: the file, or a folder that holds it. kIo, kParse, and kUsage with the part that is not supported.
  static Result<TokenizerJson> load(const std::string& path);
  /// The same from the file's text; `where` names it in errors.
  static Result<TokenizerJson> parse(std::string_view text, const std::string& where);

  /// Ids without special tokens. kUsage for text beyond ASCII, and for one that holds an added token.
  [[nodiscard]] Result<std::vector<std::int32_t>> encode(std::string_view text) const;
  [[nodiscard]] Result<std::int64_t> count(std::string_view text) const;

 private:
  struct Parts;
  explicit TokenizerJson(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace bk::load
