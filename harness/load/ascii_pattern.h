#pragma once
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::load {

/// The regular expressions that tokenizer files split by, over ASCII text: alternation, groups, (?i:), classes with
/// \p{…}, \s, \d, \w and ranges, anchors none, lookahead, quantifiers greedy, lazy and possessive. Where a class speaks
/// of characters beyond ASCII those are left out, as the text has none.
class AsciiPattern {
 public:
  /// kUsage names the construct that is not supported, or what is not closed.
  static Result<AsciiPattern> parse(std::string_view pattern);
  /// The end of the match that begins at `at`, as a backtracking engine finds it; nothing for none.
  [[nodiscard]] std::optional<std::size_t> match(std::string_view text, std::size_t at) const;

 private:
  using Set = std::bitset<128>;
  struct Node {
    enum class Kind { kSet, kSequence, kChoice, kRepeat, kLook } kind = Kind::kSet;
    Set set;
    std::vector<Node> parts;
    std::int32_t least = 0, most = 0;
    enum class Mode { kGreedy, kLazy, kPossessive } mode = Mode::kGreedy;
    bool negated = false;  // of a lookahead
  };
  class Parser;
  class Matcher;
  Node root_;
};

}  // namespace bk::load
