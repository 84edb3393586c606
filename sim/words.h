#pragma once
#include <string_view>

namespace bk::sim {
/// Blank-separated English words and word parts that are one token each, with and without a blank before them.
/// The order is part of the tokenizer: append only.
extern const std::string_view kVocabularyWords;
}  // namespace bk::sim
