#include "gate/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bk::gate {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

double position(const std::optional<double>& chars) { return chars.value_or(kNever); }

/// The median of positions among which "never" may be; nothing when it falls there.
std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double middle = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return std::isinf(middle) ? std::nullopt : std::optional<double>(middle);
}

double distance(const std::string& a, const std::string& b) {
  const auto at = first_difference(a, b);
  return at ? static_cast<double>(*at) : kNever;
}

PromptDivergence divergence_of(const GreedyTexts& texts) {
  std::vector<double> natural, cand;
  for (std::size_t i = 0; i < texts.base.size(); ++i) {
    for (std::size_t j = i + 1; j < texts.base.size(); ++j) natural.push_back(distance(texts.base[i], texts.base[j]));
    for (const std::string& other : texts.cand) cand.push_back(distance(texts.base[i], other));
  }
  return {median(std::move(natural)), median(std::move(cand))};
}

std::string place_text(const std::optional<double>& chars) {
  return chars ? fmt::format("at {:g} characters", *chars) : "nowhere in most prompts";
}

void decide(Divergence& d, const DivergenceRule& rule) {
  const std::string figures = fmt::format("candidate parts {}, bases among themselves {}",
                                          place_text(d.cand_median_chars), place_text(d.natural_median_chars));
  if (std::ssize(d.prompts) < rule.min_prompts) {
    d.reason =
        fmt::format("{} prompts are too few to tell, {} are needed; {}", d.prompts.size(), rule.min_prompts, figures);
    return;
  }
  const double natural = position(d.natural_median_chars), cand = position(d.cand_median_chars);
  const bool median_earlier = std::isinf(natural) ? !std::isinf(cand) : cand < (1 - rule.tolerance) * natural;
  const bool more_prompts_earlier = d.p_value && *d.p_value < rule.alpha;
  if (median_earlier && more_prompts_earlier) {
    d.verdict = Verdict::kFail;
  } else if (!median_earlier && !more_prompts_earlier) {
    d.verdict = Verdict::kPass;
  }
  d.reason = figures;
  if (d.verdict == Verdict::kInconclusive) {
    d.reason += median_earlier
                    ? "; an earlier median, but not beyond chance: ask more prompts"
                    : "; more prompts part earlier than chance allows, but the median holds: ask more prompts";
  }
}

}  // namespace

std::optional<std::int64_t> first_difference(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() && in_b == b.end()) return std::nullopt;
  auto same = static_cast<std::size_t>(in_a - a.begin());
  // The bytes may part inside a character; that character differs then.
  const auto inside = [same](std::string_view text) { return same < text.size() && !starts_character(text[same]); };
  if (inside(a) || inside(b)) {
    while (same > 0 && !starts_character(a[same - 1])) --same;
    if (same > 0) --same;
  }
  return std::count_if(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(same), starts_character);
}

double sign_test(int k, int n) {
  double tail = 0;
  for (int i = std::max(k, 0); i <= n; ++i) {
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) - n * std::log(2.0));
  }
  return std::min(tail, 1.0);
}

Divergence judge_divergence(const std::vector<GreedyTexts>& prompts, const DivergenceRule& rule) {
  Divergence d;
  std::vector<double> natural, cand;
  for (const GreedyTexts& texts : prompts) {
    if (texts.base.size() < 2 || texts.cand.empty()) continue;
    d.prompts.push_back(divergence_of(texts));
    natural.push_back(position(d.prompts.back().natural_chars));
    cand.push_back(position(d.prompts.back().cand_chars));
    if (cand.back() < natural.back()) ++d.earlier;
    if (cand.back() > natural.back()) ++d.later;
    if (cand.back() == natural.back()) ++d.equal;
  }
  d.natural_median_chars = median(std::move(natural));
  d.cand_median_chars = median(std::move(cand));
  if (!d.prompts.empty()) d.p_value = sign_test(d.earlier, d.earlier + d.later);
  decide(d, rule);
  return d;
}

}  // namespace bk::gate
