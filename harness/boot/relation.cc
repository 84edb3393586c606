#include "boot/relation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace bk::boot {
namespace {

constexpr std::size_t kLongest = 400;

bool is_knob(std::string_view token) { return !token.empty() && token[0] >= 'A' && token[0] <= 'Z'; }

bool is_comparison(std::string_view token) {
  return token == "=" || token == "!=" || token == "<" || token == "<=" || token == ">" || token == ">=";
}

bool is_operator_character(char c) { return std::string_view("=!<>*+").find(c) != std::string_view::npos; }

/// Words, numbers and operators; blanks separate and are not needed around operators.
Result<std::vector<std::string>> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (is_operator_character(c)) {
      const bool compares = c != '*' && c != '+';
      if (compares && end < text.size() && text[end] == '=') ++end;
    } else {
      while (end < text.size() && text[end] != ' ' && !is_operator_character(text[end])) ++end;
    }
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  if (tokens.empty()) return fail(Errc::kUsage, "it is empty");
  return tokens;
}

class Reader {
 public:
  explicit Reader(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}

  Result<std::vector<Relation::Clause>> read() {
    std::vector<Relation::Clause> clauses;
    while (true) {
      Relation::Clause clause;
      BK_ASSIGN(clause.left, sum());
      if (done() || !is_comparison(peek())) return fail(Errc::kUsage, expected("one of = != < <= > >="));
      clause.comparison = take();
      BK_ASSIGN(clause.right, sum());
      BK_TRY(check_text(clause));
      clauses.push_back(std::move(clause));
      if (done()) return clauses;
      if (take() != "or") return fail(Errc::kUsage, fmt::format("'{}' stands where 'or' may", tokens_[at_ - 1]));
    }
  }

 private:
  [[nodiscard]] bool done() const { return at_ >= tokens_.size(); }
  [[nodiscard]] const std::string& peek() const { return tokens_[at_]; }
  std::string take() { return tokens_[at_++]; }
  [[nodiscard]] std::string expected(const std::string& what) const {
    return done() ? fmt::format("it ends where {} is expected", what)
                  : fmt::format("'{}' stands where {} is expected", peek(), what);
  }

  Result<Relation::Sum> sum() {
    Relation::Sum sum(1);
    while (true) {
      const bool operand = !done() && peek() != "or" && !is_operator_character(peek()[0]);
      if (!operand) return fail(Errc::kUsage, expected("a knob or a number"));
      sum.back().push_back(take());
      if (done() || (peek() != "*" && peek() != "+")) return sum;
      if (take() == "+") sum.emplace_back();
    }
  }

  /// Text can only be compared whole, and only for equality.
  static Status check_text(const Relation::Clause& clause) {
    for (const Relation::Sum* side : {&clause.left, &clause.right}) {
      for (const auto& product : *side) {
        for (const std::string& factor : product) {
          if (is_knob(factor) || parse_double(factor)) continue;
          const bool alone = side->size() == 1 && product.size() == 1;
          if (!alone || (clause.comparison != "=" && clause.comparison != "!="))
            return fail(Errc::kUsage, fmt::format("'{}' is no number, so only = and != can compare it, alone", factor));
        }
      }
    }
    return {};
  }

  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
};

std::string value_of(const std::string& factor, const KnobMap& passed) {
  return is_knob(factor) ? passed.at(factor) : factor;
}

std::optional<double> number_of(const Relation::Sum& sum, const KnobMap& passed) {
  double total = 0;
  for (const auto& product : sum) {
    double value = 1;
    for (const std::string& factor : product) {
      const auto number = parse_double(value_of(factor, passed));
      if (!number) return {};
      value *= *number;
    }
    total += value;
  }
  return total;
}

bool compare(double left, const std::string& comparison, double right) {
  if (comparison == "=") return left == right;
  if (comparison == "!=") return left != right;
  if (comparison == "<") return left < right;
  if (comparison == "<=") return left <= right;
  return comparison == ">" ? left > right : left >= right;
}

bool holds(const Relation::Clause& clause, const KnobMap& passed) {
  for (const Relation::Sum* side : {&clause.left, &clause.right}) {
    for (const auto& product : *side) {
      for (const std::string& factor : product) {
        if (is_knob(factor) && !passed.contains(factor)) return true;
      }
    }
  }
  const auto left = number_of(clause.left, passed);
  const auto right = number_of(clause.right, passed);
  if (left && right) return compare(*left, clause.comparison, *right);
  const bool single =
      clause.left.size() == 1 && clause.left[0].size() == 1 && clause.right.size() == 1 && clause.right[0].size() == 1;
  const bool equal = single && value_of(clause.left[0][0], passed) == value_of(clause.right[0][0], passed);
  return clause.comparison == "=" ? equal : clause.comparison == "!=" && !equal;
}

}  // namespace

Result<Relation> parse_relation(const std::string& name, std::string_view text) {
  if (text.size() > kLongest) return fail(Errc::kUsage, fmt::format("RULE.{} is longer than {} bytes", name, kLongest));
  Relation relation;
  relation.name = name;
  relation.text = std::string(text);
  auto tokens = tokens_of(text);
  if (!tokens) return fail(tokens.error().with("RULE." + name));
  auto clauses = Reader(std::move(*tokens)).read();
  if (!clauses) return fail(clauses.error().with("RULE." + name));
  relation.any_of = std::move(*clauses);
  if (knobs_of(relation).empty()) return fail(Errc::kUsage, fmt::format("RULE.{} names no knob", name));
  return relation;
}

std::vector<std::string> knobs_of(const Relation& relation) {
  std::vector<std::string> names;
  for (const Relation::Clause& clause : relation.any_of) {
    for (const Relation::Sum* side : {&clause.left, &clause.right}) {
      for (const auto& product : *side) {
        for (const std::string& factor : product) {
          if (is_knob(factor) && std::find(names.begin(), names.end(), factor) == names.end()) names.push_back(factor);
        }
      }
    }
  }
  return names;
}

Status check_relation(const Relation& relation, const KnobMap& passed) {
  for (const Relation::Clause& clause : relation.any_of) {
    if (holds(clause, passed)) return {};
  }
  std::vector<std::string> values;
  for (const std::string& knob : knobs_of(relation)) values.push_back(knob + "=" + passed.at(knob));
  return fail(Errc::kUsage, fmt::format("{} does not hold with {}{}", relation.text, join(values, ", "),
                                        relation.why.empty() ? "" : ": " + relation.why));
}

}  // namespace bk::boot
