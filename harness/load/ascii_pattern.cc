#include "load/ascii_pattern.h"

#include <functional>
#include <limits>

#include "base/text.h"

namespace bk::load {
namespace {

using Set = std::bitset<128>;

constexpr std::int32_t kUnbounded = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kAscii = 128;
constexpr int kMostDepth = 64;

Set range(char from, char to) {
  Set set;
  for (char c = from; c <= to; ++c) set.set(static_cast<unsigned char>(c));
  return set;
}
Set of(std::string_view characters) {
  Set set;
  for (const char c : characters) set.set(static_cast<unsigned char>(c));
  return set;
}
const Set& upper() {
  static const Set set = range('A', 'Z');
  return set;
}
const Set& lower() {
  static const Set set = range('a', 'z');
  return set;
}
const Set& digits() {
  static const Set set = range('0', '9');
  return set;
}
Set blanks() { return of(" \t\n\v\f\r"); }

/// The ASCII part of a general category; nothing for one that is not known.
std::optional<Set> category(std::string_view name) {
  const Set symbols = of("$+<=>^`|~");
  if (name == "L" || name == "Letter" || name == "Alphabetic") return upper() | lower();
  if (name == "Lu") return upper();
  if (name == "Ll") return lower();
  if (name == "N" || name == "Nd") return digits();
  if (name == "S") return symbols;
  if (name == "P") return (range('!', '/') | range(':', '@') | range('[', '`') | range('{', '~')) & ~symbols;
  if (name == "Z" || name == "Zs") return of(" ");
  if (name == "M" || name == "Mn" || name == "Mc" || name == "Me" || name == "Lt" || name == "Lm" || name == "Lo" ||
      name == "Nl" || name == "No" || name == "Han" || name == "Hiragana" || name == "Katakana" || name == "Hangul")
    return Set();
  return std::nullopt;
}

Set both_cases(Set set) {
  for (std::size_t i = 0; i < 26; ++i) {
    const bool either = set['a' + i] || set['A' + i];
    set['a' + i] = set['A' + i] = either;
  }
  return set;
}

}  // namespace

class AsciiPattern::Parser {
 public:
  explicit Parser(std::string_view pattern) : text_(pattern) {}

  Result<Node> whole() {
    BK_ASSIGN(Node node, choice(0));
    if (at_ != text_.size()) return bad("a parenthesis that closes nothing");
    return node;
  }

 private:
  [[nodiscard]] bool more() const { return at_ < text_.size(); }
  [[nodiscard]] char here() const { return text_[at_]; }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& what) const {
    return fail(Errc::kUsage, "the pattern has " + what, std::string(text_));
  }

  Result<Node> choice(int depth) {
    if (depth > kMostDepth) return bad("too many groups within each other");
    Node node;
    node.kind = Node::Kind::kChoice;
    do {
      BK_ASSIGN(Node one, sequence(depth));
      node.parts.push_back(std::move(one));
    } while (take("|"));
    return node;
  }

  Result<Node> sequence(int depth) {
    Node node;
    node.kind = Node::Kind::kSequence;
    while (more() && here() != '|' && here() != ')') {
      BK_ASSIGN(Node one, atom(depth));
      BK_ASSIGN(one, quantified(std::move(one)));
      node.parts.push_back(std::move(one));
    }
    return node;
  }

  Result<Node> atom(int depth) {
    if (take("(")) return group(depth);
    Node node;
    if (take("[")) {
      BK_ASSIGN(node.set, bracketed());
    } else if (here() == '^' || here() == '$') {
      return bad("an anchor, which is not supported");
    } else if (take(".")) {
      node.set = ~of("\n");
    } else if (here() == '\\') {
      BK_ASSIGN(const Escape escape, escaped());
      node.set = escape.set;
    } else {
      if (const std::uint32_t c = character(); c < kAscii) node.set.set(c);
    }
    if (ignore_case_) node.set = both_cases(node.set);
    return node;
  }

  Result<Node> group(int depth) {
    const bool outer = ignore_case_;
    Node node;
    if (take("?i:")) {
      ignore_case_ = true;
      BK_ASSIGN(node, choice(depth + 1));
    } else if (take("?!") || take("?=")) {
      node.kind = Node::Kind::kLook;
      node.negated = text_[at_ - 1] == '!';
      BK_ASSIGN(Node inner, choice(depth + 1));
      node.parts.push_back(std::move(inner));
    } else if (take("?:") || (more() && here() != '?')) {
      BK_ASSIGN(node, choice(depth + 1));
    } else {
      return bad(fmt::format("\"({}\", which is not supported", text_.substr(at_, 3)));
    }
    ignore_case_ = outer;
    if (!take(")")) return bad("a parenthesis that is not closed");
    return node;
  }

  Result<Node> quantified(Node one) {
    std::int32_t least = 1, most = 1;
    if (take("?")) {
      least = 0;
    } else if (take("*")) {
      least = 0;
      most = kUnbounded;
    } else if (take("+")) {
      most = kUnbounded;
    } else if (more() && here() == '{') {
      const std::size_t end = text_.find('}', at_);
      if (end == std::string_view::npos) return bad("a brace that is not closed");
      const auto bounds = split(text_.substr(at_ + 1, end - at_ - 1), ',');
      const auto low = parse_int(bounds[0]);
      std::optional<std::int64_t> high = low;
      if (bounds.size() > 1) high = bounds[1].empty() ? std::int64_t{kUnbounded} : parse_int(bounds[1]);
      if (!low || !high || bounds.size() > 2 || *low < 0 || *high < *low || *low > 1000) return bad("a bad repetition");
      least = static_cast<std::int32_t>(*low);
      most = static_cast<std::int32_t>(std::min<std::int64_t>(*high, kUnbounded));
      at_ = end + 1;
    } else {
      return one;
    }
    Node node;
    node.kind = Node::Kind::kRepeat;
    node.least = least;
    node.most = most;
    node.mode = take("+") ? Node::Mode::kPossessive : take("?") ? Node::Mode::kLazy : Node::Mode::kGreedy;
    node.parts.push_back(std::move(one));
    return node;
  }

  struct Escape {
    Set set;
    std::optional<std::uint32_t> single;  // the one character that it stands for
  };

  Result<Escape> escaped() {
    ++at_;
    if (!more()) return bad("a backslash at its end");
    const char kind = text_[at_++];
    const auto one = [](std::uint32_t c) {
      Escape escape{{}, c};
      if (c < kAscii) escape.set.set(c);
      return escape;
    };
    switch (kind) {
      case 's':
        return Escape{blanks(), {}};
      case 'S':
        return Escape{~blanks(), {}};
      case 'd':
        return Escape{digits(), {}};
      case 'D':
        return Escape{~digits(), {}};
      case 'w':
        return Escape{upper() | lower() | digits() | of("_"), {}};
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'p':
      case 'P': {
        const std::size_t end = text_.find('}', at_);
        if (!take("{") || end == std::string_view::npos) return bad("\\p without a name in braces");
        const std::string_view name = text_.substr(at_, end - at_);
        at_ = end + 1;
        const auto set = category(name);
        if (!set) return bad(fmt::format("the category \"{}\", which is not supported", name));
        return Escape{kind == 'p' ? *set : ~*set, {}};
      }
      default:
        break;
    }
    if ((kind >= 'a' && kind <= 'z') || (kind >= 'A' && kind <= 'Z') || (kind >= '0' && kind <= '9'))
      return bad(fmt::format("\"\\{}\", which is not supported", kind));
    --at_;
    return one(character());
  }

  Result<Set> bracketed() {
    const bool negated = take("^");
    Set set;
    for (bool first = true;; first = false) {
      if (!more()) return bad("a bracket that is not closed");
      if (!first && take("]")) break;
      if (here() == '[' || text_.substr(at_, 2) == "&&") return bad("a class within a class, which is not supported");
      Escape low;
      if (here() == '\\') {
        BK_ASSIGN(low, escaped());
      } else {
        low.single = character();
        if (*low.single < kAscii) low.set.set(*low.single);
      }
      if (low.single && text_.substr(at_, 1) == "-" && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        std::optional<std::uint32_t> high;
        if (here() == '\\') {
          BK_ASSIGN(const Escape escape, escaped());
          high = escape.single;
        } else {
          high = character();
        }
        if (!high || *high < *low.single) return bad("a bad range");
        for (std::uint32_t c = *low.single; c <= std::min(*high, kAscii - 1); ++c) low.set.set(c);
      }
      set |= low.set;
    }
    if (ignore_case_) set = both_cases(set);
    return negated ? ~set : set;
  }

  // The UTF-8 character here; its value matters only below 128 and in the order of a range.
  std::uint32_t character() {
    const auto lead = static_cast<unsigned char>(text_[at_++]);
    if (lead < 0x80) return lead;
    std::uint32_t value = lead & (lead >= 0xF0 ? 0x07U : lead >= 0xE0 ? 0x0FU : 0x1FU);
    while (more() && (static_cast<unsigned char>(here()) & 0xC0) == 0x80) {
      value = (value << 6) | (static_cast<unsigned char>(text_[at_++]) & 0x3FU);
    }
    return std::max(value, kAscii);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ignore_case_ = false;
};

/// One attempt; `then` is what must match after a node.
class AsciiPattern::Matcher {
 public:
  using Then = std::function<bool(std::size_t)>;
  explicit Matcher(std::string_view text) : text_(text) {}

  // NOLINTNEXTLINE(misc-no-recursion): a pattern's groups stand within each other
  bool match(const Node& node, std::size_t at, const Then& then) const {
    switch (node.kind) {
      case Node::Kind::kSet:
        return in(node.set, at) && then(at + 1);
      case Node::Kind::kSequence:
        return sequence(node, 0, at, then);
      case Node::Kind::kChoice:
        for (const Node& part : node.parts) {
          if (match(part, at, then)) return true;
        }
        return false;
      case Node::Kind::kLook:
        return match(node.parts[0], at, [](std::size_t) { return true; }) != node.negated && then(at);
      case Node::Kind::kRepeat:
        return node.parts[0].kind == Node::Kind::kSet ? run(node, at, then) : repeat(node, 0, at, then);
    }
    return false;
  }

 private:
  [[nodiscard]] bool in(const Set& set, std::size_t at) const {
    return at < text_.size() && set[static_cast<unsigned char>(text_[at]) & 0x7F];
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  bool sequence(const Node& node, std::size_t part, std::size_t at, const Then& then) const {
    if (part == node.parts.size()) return then(at);
    return match(node.parts[part], at, [&](std::size_t next) { return sequence(node, part + 1, next, then); });
  }

  // A run of one class, by far the most frequent, needs no recursion.
  // NOLINTNEXTLINE(misc-no-recursion)
  bool run(const Node& node, std::size_t at, const Then& then) const {
    const Set& set = node.parts[0].set;
    const auto least = static_cast<std::size_t>(node.least), most = static_cast<std::size_t>(node.most);
    std::size_t longest = 0;
    while (longest < most && in(set, at + longest)) ++longest;
    if (longest < least) return false;
    if (node.mode == Node::Mode::kPossessive) return then(at + longest);
    for (std::size_t i = 0; i <= longest - least; ++i) {
      if (then(at + (node.mode == Node::Mode::kLazy ? least + i : longest - i))) return true;
    }
    return false;
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  bool repeat(const Node& node, std::int32_t done, std::size_t at, const Then& then) const {
    if (node.mode == Node::Mode::kPossessive) {
      for (bool again = true; again && done < node.most;) {
        const std::size_t before = at;
        again = match(node.parts[0], at,
                      [&at](std::size_t next) {
                        at = next;
                        return true;
                      }) &&
                at != before;
        done += again ? 1 : 0;
      }
      return done >= node.least && then(at);
    }
    const auto another = [&] {
      return done < node.most && match(node.parts[0], at, [&](std::size_t next) {
               return (next != at || done < node.least) && repeat(node, done + 1, next, then);
             });
    };
    if (done < node.least) return another();
    return node.mode == Node::Mode::kLazy ? then(at) || another() : another() || then(at);
  }

  std::string_view text_;
};

Result<AsciiPattern> AsciiPattern::parse(std::string_view pattern) {
  AsciiPattern parsed;
  BK_ASSIGN(parsed.root_, Parser(pattern).whole());
  return parsed;
}

std::optional<std::size_t> AsciiPattern::match(std::string_view text, std::size_t at) const {
  std::size_t end = at;
  const bool found = Matcher(text).match(root_, at, [&end](std::size_t next) {
    end = next;
    return true;
  });
  return found ? std::optional(end) : std::nullopt;
}

}  // namespace bk::load
