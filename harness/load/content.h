#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::load {

/// One prompt of a content set.
struct ContentPrompt {
  bool long_answer = false;  ///< false: a sentence or two are asked for
  std::string_view text;
};

/// What is generated decides how well drafts are accepted, and so how fast a speculating engine decodes: a rate holds
/// for the content that it was measured on, and for no other version of it.
struct ContentSet {
  std::string_view name;  ///< "prose", "code", "json", "math", "chat", "korean", "structured"
  int version = 1;        ///< counts up when a prompt changes
  std::vector<ContentPrompt> prompts;

  /// SHA-256 over name, version and prompts: a result that names it is compared with none of another hash.
  [[nodiscard]] std::string hash() const;
  /// The n-th prompt of one answer length, from the start again after the last; its seed stands first as a reference
  /// number, so that no cached prefix of another request answers.
  [[nodiscard]] std::string prompt(bool long_answer, std::uint64_t n, std::uint64_t seed) const;
};

/// Most tokens of a short answer.
inline constexpr int kShortAnswerTokens = 96;

[[nodiscard]] const std::vector<ContentSet>& content_sets();
[[nodiscard]] const ContentSet* find_content(std::string_view name);

/// One set of a mix, with its share of the tokens.
struct ContentShare {
  const ContentSet* set = nullptr;
  double weight = 1;
};
/// "code", "prose=2,code=1" or "all". kUsage, with the nearest name, for a set that does not exist, a set named twice
/// or a weight that is not positive.
[[nodiscard]] Result<std::vector<ContentShare>> parse_content(std::string_view text);

}  // namespace bk::load
