#include "boot/log_pattern.h"

#include <vector>

namespace bk::boot {
namespace {

/// One group of the expression, and of its branches the one that is being read.
struct Group {
  bool after_text = false;                    ///< something was consumed before the group
  bool after_end = false;                     ///< '$' stands before the group
  bool is_look = false;                       ///< (?= or (?!: consumes nothing
  bool consumes = false;                      ///< the branch so far
  bool ends = false;                          ///< the branch holds '$'
  bool all_consume = true, any_ends = false;  ///< of the branches that are closed
};

void close_branch(Group& group) {
  group.all_consume = group.all_consume && group.consumes;
  group.any_ends = group.any_ends || group.ends;
  group.consumes = group.ends = false;
}

class Reader {
 public:
  explicit Reader(std::string_view pattern) : pattern_(pattern), groups_(1) {}

  std::optional<std::string> fault() {
    while (at_ < pattern_.size()) {
      if (auto found = step()) return found;
    }
    return {};
  }

 private:
  /// Whether what was just read may also be left out.
  [[nodiscard]] bool optional_next() const {
    const std::string_view rest = pattern_.substr(at_);
    return rest.starts_with('*') || rest.starts_with('?') || rest.starts_with("{0");
  }

  std::optional<std::string> consume() {
    Group& group = groups_.back();
    if (optional_next()) return {};
    if (group.after_end || group.ends) return "something follows '$'";
    group.consumes = true;
    return {};
  }

  void open_group() {
    const Group& outer = groups_.back();
    Group group;
    group.after_text = outer.after_text || outer.consumes;
    group.after_end = outer.after_end || outer.ends;
    const std::string_view rest = pattern_.substr(at_);
    group.is_look = rest.starts_with("?=") || rest.starts_with("?!");
    if (rest.starts_with('?')) at_ += 2;
    groups_.push_back(group);
  }

  void close_group() {
    if (groups_.size() == 1) return;  // the compiler of expressions refused it
    Group group = groups_.back();
    groups_.pop_back();
    close_branch(group);
    if (group.is_look || optional_next()) return;
    groups_.back().consumes = groups_.back().consumes || group.all_consume;
    groups_.back().ends = groups_.back().ends || group.any_ends;
  }

  void skip_class() {
    if (at_ < pattern_.size() && pattern_[at_] == '^') ++at_;
    while (at_ < pattern_.size() && pattern_[at_] != ']') at_ += pattern_[at_] == '\\' ? 2 : 1;
    ++at_;
  }

  std::optional<std::string> step() {
    const char c = pattern_[at_++];
    Group& group = groups_.back();
    switch (c) {
      case '(':
        open_group();
        return {};
      case ')':
        close_group();
        return {};
      case '|':
        close_branch(group);
        return {};
      case '^':
        if (group.after_text || group.consumes) return "'^' stands after something";
        return {};
      case '$':
        group.ends = true;
        return {};
      case '*':
      case '+':
      case '?':
        return {};
      case '{':
        at_ = pattern_.find('}', at_);
        at_ = at_ == std::string_view::npos ? pattern_.size() : at_ + 1;
        return {};
      case '[':
        skip_class();
        return consume();
      case '\n':
      case '\r':
        return "a line holds no line end";
      case '\\':
        return escaped();
      default:
        return consume();
    }
  }

  std::optional<std::string> escaped() {
    const char c = at_ < pattern_.size() ? pattern_[at_++] : '\\';
    if (c == 'b' || c == 'B') return {};
    if (c == 'n' || c == 'r')
      return optional_next() ? std::nullopt : std::optional<std::string>("a line holds no line end");
    return consume();
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::vector<Group> groups_;
};

}  // namespace

std::string log_pattern(std::string_view text) {
  static constexpr std::string_view kValue = "{VALUE}";
  std::string pattern(text);
  for (std::size_t at = pattern.find(kValue); at != std::string::npos; at = pattern.find(kValue, at)) {
    pattern.replace(at, kValue.size(), "([^\\s,;\"']+)");
  }
  return pattern;
}

bool value_can_be_read(std::string_view value) {
  return !value.empty() && value.find_first_of(" \t\r\n\v\f,;\"'") == std::string_view::npos;
}

std::optional<std::string> never_matches(std::string_view pattern) { return Reader(pattern).fault(); }

}  // namespace bk::boot
