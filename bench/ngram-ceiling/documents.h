#pragma once
#include <functional>
#include <string>
#include <vector>

#include "simulate.h"

namespace bk::ngram_ceiling {

/// Text to tokens; an error stops the reading.
using Encode = std::function<Result<Tokens>(const std::string& text)>;

/// Each code point a token: for a smoke test, since real tokens repeat differently.
[[nodiscard]] Result<Tokens> chars_of(const std::string& text);

/// Documents of a file: a .jsonl with "prompt" and "completion", or "text", on each line; anything else is one text. Of
/// a text without a prompt the first `warmup` tokens are given. kUsage naming file and line for any other line.
[[nodiscard]] Result<std::vector<Document>> read_documents(const std::string& path, std::size_t warmup,
                                                           const Encode& encode);

}  // namespace bk::ngram_ceiling
