#include "boot/knob_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <vector>

#include "base/text.h"
#include "boot/log_pattern.h"
#include "boot/words.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

/// std::regex recurses over its pattern: a bound keeps a hostile one from the end of the stack.
constexpr std::size_t kLongestPattern = 200;

bool has_value(std::string_view text) { return text.find("{VALUE}") != std::string_view::npos; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view piece : split(text, ' ')) {
    if (!trim(piece).empty()) words.emplace_back(trim(piece));
  }
  return words;
}

Status set_range(Knob& knob, const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::string low = text.substr(0, dots);
  const std::string high = dots == std::string::npos ? "" : text.substr(dots + 2);
  knob.min = parse_double(low);
  knob.max = parse_double(high);
  if (!knob.min || !knob.max)
    return fail(Errc::kUsage, fmt::format("a range is MIN..MAX, as in 1..32 or 0.0..0.5; not {}", text));
  if (*knob.min > *knob.max) return fail(Errc::kUsage, fmt::format("the range {} is empty", text));
  knob.whole = parse_int(low).has_value() && parse_int(high).has_value();
  return {};
}

Status set_values(Knob& knob, const std::string& text) {
  knob.values = words_of(text);
  if (knob.values.empty()) return fail(Errc::kUsage, fmt::format("{}.values lists nothing", knob.name));
  auto sorted = knob.values;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return fail(Errc::kUsage, fmt::format("{}.values lists {} twice", knob.name, *twice));
  return {};
}

/// "OTHER=value value".
Status set_when(Knob& knob, const std::string& text) {
  const std::size_t equals = text.find('=');
  knob.when_knob = text.substr(0, equals);
  if (equals != std::string::npos) knob.when_values = words_of(text.substr(equals + 1));
  if (knob.when_knob.empty() || knob.when_values.empty()) {
    return fail(Errc::kUsage,
                fmt::format("{}.when is OTHER=VALUE, several values separated by blanks; not '{}'", knob.name, text));
  }
  return {};
}

Status check_words(const std::string& template_text) {
  const auto words = split_words(template_text);
  if (!words) return fail(words.error());
  return {};
}

Status check_log(const std::string& pattern) {
  if (pattern.size() > kLongestPattern) {
    return fail(Errc::kUsage, fmt::format("a log pattern is at most {} bytes", kLongestPattern));
  }
  try {
    const std::regex compiled(log_pattern(pattern));
  } catch (const std::regex_error& error) {
    return fail(Errc::kUsage, fmt::format("no regular expression: {} ({})", pattern, error.what()));
  }
  const auto reason = never_matches(log_pattern(pattern));
  if (!reason) return {};
  return fail(Errc::kUsage, fmt::format("no line of a log can match {}: {}", pattern, *reason));
}

/// Two values that the same words prove, and a value that {VALUE} cannot read, would be seen after a boot only.
Status check_proofs(const Knob& knob) {
  std::map<std::string, std::string> by_text;
  for (const auto& [value, rule] : knob.proof_for) {
    if (has_value(rule.text)) continue;
    const auto [first, fresh] = by_text.emplace(rule.text, value);
    if (fresh) continue;
    return fail(Errc::kUsage, fmt::format("{}.proof.{} and {}.proof.{} are the same: nothing would tell the two apart",
                                          knob.name, first->second, knob.name, value));
  }
  if (knob.proof.kind != ProofRule::Kind::kLog) return {};
  for (const std::string& value : knob.values) {
    if (knob.proof_for.contains(value) || value_can_be_read(value)) continue;
    return fail(Errc::kUsage, fmt::format("{}.proof cannot read the value {}: {{VALUE}} ends at commas, semicolons and "
                                          "quotes; prove it by {}.proof.{}",
                                          knob.name, value, knob.name, value));
  }
  return {};
}

std::string allowed_text(const Knob& knob) {
  if (!knob.values.empty()) return "one of " + join(knob.values, ", ");
  if (knob.min)
    return fmt::format("{} from {} to {}", knob.whole ? "a whole number" : "a number", *knob.min, *knob.max);
  if (!knob.under.empty()) return fmt::format("a path below {} of A-Z a-z 0-9 . _ - and /, without ..", knob.under);
  return "text without blanks";
}

bool is_below(const std::string& folder, const std::string& path) {
  const std::string start = folder.ends_with('/') ? folder : folder + "/";
  return path.size() > start.size() && path.starts_with(start) && !manifest::root_fault(path);
}

bool is_allowed(const Knob& knob, const std::string& wanted) {
  if (!knob.values.empty()) return std::find(knob.values.begin(), knob.values.end(), wanted) != knob.values.end();
  if (knob.min) {
    const auto number = parse_double(wanted);
    if (!number || *number < *knob.min || *number > *knob.max) return false;
    const auto whole = parse_int(wanted);
    return !knob.whole || (whole && std::to_string(*whole) == wanted);  // no leading zero, no sign
  }
  if (!knob.under.empty()) return is_below(knob.under, wanted);
  return !wanted.empty() && std::none_of(wanted.begin(), wanted.end(),
                                         [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == ','; });
}

}  // namespace

Status Knob::check(const std::string& wanted) const {
  if (is_allowed(*this, wanted)) return {};
  return fail(Errc::kUsage, fmt::format("{}={} is not allowed: {} takes {}", name, wanted, name, allowed_text(*this)));
}

std::string Knob::canonical(const std::string& wanted) const {
  const auto number = min && values.empty() ? parse_double(wanted) : std::nullopt;
  if (!number) return wanted;
  const auto is_equal = [&](const std::string& text) { return parse_double(text) == number; };
  if (is_equal(value)) return value;
  for (const auto& entry : flag_for) {
    if (is_equal(entry.first)) return entry.first;
  }
  for (const auto& entry : proof_for) {
    if (is_equal(entry.first)) return entry.first;
  }
  return fmt::format("{}", *number + 0.0);  // no negative zero
}

bool Knob::active(const KnobMap& resolved) const {
  const auto own = resolved.find(name);
  if (own == resolved.end() || own->second.empty()) return false;
  if (when_knob.empty()) return true;
  const auto other = resolved.find(when_knob);
  return other != resolved.end() &&
         std::find(when_values.begin(), when_values.end(), other->second) != when_values.end();
}

Result<ProofRule> parse_proof(std::string_view text, bool one_value) {
  using Kind = ProofRule::Kind;
  static const std::vector<std::pair<std::string, Kind>> kKinds = {
      {"log", Kind::kLog}, {"metric", Kind::kMetric}, {"environ", Kind::kEnviron}, {"json", Kind::kJson}};
  const std::size_t colon = text.find(':');
  const std::string word(trim(text.substr(0, colon)));
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& known) { return known.first == word; });
  if (colon == std::string_view::npos || kind == kKinds.end()) {
    return fail(Errc::kUsage, fmt::format("a proof starts with log:, metric:, environ: or json:; not {}", text));
  }
  ProofRule rule{kind->second, std::string(trim(text.substr(colon + 1)))};
  if (rule.text.empty()) return fail(Errc::kUsage, fmt::format("nothing after '{}:'", word));
  const bool by_text = rule.kind == Kind::kLog || rule.kind == Kind::kMetric;
  if (one_value && !by_text)
    return fail(Errc::kUsage, fmt::format("the proof of one value is log: or metric:, not {}:", word));
  if (by_text && !one_value && !has_value(rule.text)) {
    return fail(Errc::kUsage, "the proof holds no {VALUE}, so it could not tell one arm from the other");
  }
  if (rule.kind == Kind::kLog) BK_TRY(check_log(rule.text));
  if (rule.kind == Kind::kJson && (rule.text[0] != '/' || split(rule.text, ' ').size() != 2)) {
    return fail(Errc::kUsage, fmt::format("a json proof is '/path member.member', not {}", rule.text));
  }
  if (rule.kind == Kind::kEnviron && rule.text.find_first_of(" =") != std::string::npos) {
    return fail(Errc::kUsage, fmt::format("an environ proof names one variable, not {}", rule.text));
  }
  return rule;
}

Status apply_attribute(Knob& knob, const std::string& attribute, const std::string& value) {
  const std::size_t dot = attribute.find('.');
  const std::string word = attribute.substr(0, dot);
  const std::string of_value = dot == std::string::npos ? "" : attribute.substr(dot + 1);
  if (word == "flag" && dot != std::string::npos) {
    BK_TRY(check_words(value));
    knob.flag_for[of_value] = value;
    return {};
  }
  if (word == "proof") {
    BK_ASSIGN(ProofRule rule, parse_proof(value, dot != std::string::npos));
    (dot == std::string::npos ? knob.proof : knob.proof_for[of_value]) = rule;
    return {};
  }
  if (attribute == "flag") {
    if (!has_value(value)) return fail(Errc::kUsage, fmt::format("{}.flag holds no {{VALUE}}", knob.name));
    BK_TRY(check_words(value));
    knob.flag = value;
    return {};
  }
  if (attribute == "values") return set_values(knob, value);
  if (attribute == "range") return set_range(knob, value);
  if (attribute == "when") return set_when(knob, value);
  if (attribute == "any") {
    if (value != "yes") return fail(Errc::kUsage, fmt::format("{}.any is 'yes' or absent", knob.name));
    knob.any = true;
    return {};
  }
  if (attribute == "under") {
    if (!value.starts_with('/') || (value != "/" && manifest::root_fault(value)))
      return fail(Errc::kUsage, fmt::format("{}.under is an absolute folder, not '{}'", knob.name, value));
    knob.under = value;
    return {};
  }
  if (attribute == "env") {
    if (value.empty() || value.find_first_of(" =") != std::string::npos) {
      return fail(Errc::kUsage, fmt::format("{}.env names one variable, not '{}'", knob.name, value));
    }
    knob.env = value;
    return {};
  }
  if (attribute == "help") {
    knob.help = value;
    return {};
  }
  const auto near = nearest(attribute, {"values", "range", "any", "under", "flag", "env", "proof", "when", "help"});
  return fail(Errc::kUsage, fmt::format("{}.{} is not understood{}", knob.name, attribute,
                                        near ? "; did you mean " + knob.name + "." + *near + "?"
                                             : ": values, range, any, under, flag, env, proof, when or help"));
}

Status check_knob(const Knob& knob) {
  const int kinds =
      (knob.values.empty() ? 0 : 1) + (knob.min ? 1 : 0) + (knob.any ? 1 : 0) + (knob.under.empty() ? 0 : 1);
  if (kinds != 1) {
    return fail(Errc::kUsage, fmt::format("{} needs exactly one of {}.values, {}.range, {}.under and {}.any=yes",
                                          knob.name, knob.name, knob.name, knob.name, knob.name));
  }
  for (const auto& [value, words] : knob.flag_for) BK_TRY(knob.check(value));
  for (const auto& [value, rule] : knob.proof_for) BK_TRY(knob.check(value));
  if (!knob.value.empty()) BK_TRY(knob.check(knob.value));
  return check_proofs(knob);
}

}  // namespace bk::boot
