#include "boot/proofs.h"

#include <fmt/format.h>

#include <regex>

#include "base/text.h"
#include "boot/log_pattern.h"

namespace bk::boot {
namespace {

/// A log line longer than this is cut before it is matched: std::regex recurses over its subject.
constexpr std::size_t kLongestLine = 2000;

struct Found {
  std::optional<std::string> value;  ///< nothing when presence is all that the rule asks
  std::string line;
};

/// The last line that matches: a later line of an engine corrects an earlier one.
std::optional<Found> in_log(const std::string& pattern, const std::string& log) {
  const std::regex regex(log_pattern(pattern));
  std::optional<Found> found;
  for (std::string_view line : split_lines(log)) {
    const std::string text(line.substr(0, kLongestLine));
    std::smatch match;
    if (!std::regex_search(text, match, regex)) continue;
    found = Found{match.size() > 1 ? std::optional(match[1].str()) : std::nullopt, std::string(trim(text))};
  }
  return found;
}

struct MetricPattern {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  bool value_is_sample = false;
};

/// `name{a="x",b="{VALUE}"}` or `name{a="x"}={VALUE}`.
MetricPattern metric_pattern(std::string_view text) {
  MetricPattern pattern;
  static constexpr std::string_view kSample = "={VALUE}";
  if (text.size() > kSample.size() && text.substr(text.size() - kSample.size()) == kSample) {
    pattern.value_is_sample = true;
    text.remove_suffix(kSample.size());
  }
  const std::size_t brace = text.find('{');
  pattern.name = std::string(text.substr(0, brace));
  if (brace == std::string_view::npos) return pattern;
  std::string_view inside = text.substr(brace + 1);
  if (!inside.empty() && inside.back() == '}') inside.remove_suffix(1);
  for (const std::string_view piece : split(inside, ',')) {
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view value = piece.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    pattern.labels.emplace_back(trim(piece.substr(0, equals)), value);
  }
  return pattern;
}

std::string describe(const engine::MetricSample& sample) {
  std::vector<std::string> labels;
  for (const auto& [key, value] : sample.labels) labels.push_back(fmt::format("{}=\"{}\"", key, value));
  return fmt::format("{}{{{}}} {}", sample.name, join(labels, ","), sample.value);
}

std::optional<Found> in_metrics(const std::string& text, const std::optional<engine::MetricsPage>& page) {
  if (!page) return {};
  const MetricPattern pattern = metric_pattern(text);
  for (const engine::MetricSample& sample : page->samples) {
    if (sample.name != pattern.name) continue;
    Found found{std::nullopt, describe(sample)};
    bool fits = true;
    for (const auto& [key, wanted] : pattern.labels) {
      const std::string* label = sample.label(key);
      if (label != nullptr && wanted == "{VALUE}") {
        found.value = *label;
      } else {
        fits = fits && label != nullptr && *label == wanted;
      }
    }
    if (pattern.value_is_sample) found.value = fmt::format("{}", sample.value);
    if (fits) return found;
  }
  return {};
}

std::optional<Found> in_environ(const std::string& name, const Environment& environ) {
  const auto found = environ.find(name);
  if (found == environ.end()) return {};
  return Found{found->second, name + "=" + found->second};
}

std::optional<Found> in_json(const std::string& text, const Evidence& evidence) {
  const std::size_t blank = text.find(' ');
  if (!evidence.get_json) return {};
  const auto document = evidence.get_json(text.substr(0, blank));
  if (!document) return {};
  const Json* at = &*document;
  for (const std::string_view member : split(std::string_view(text).substr(blank + 1), '.')) at = &(*at)[member];
  if (at->is_null()) return {};
  const std::string value = at->as_string().value_or(at->dump());
  return Found{value, text + " = " + value};
}

std::optional<Found> find_evidence(const ProofRule& rule, const Evidence& evidence) {
  switch (rule.kind) {
    case ProofRule::Kind::kNone:
      return {};
    case ProofRule::Kind::kLog:
      return in_log(rule.text, evidence.log);
    case ProofRule::Kind::kMetric:
      return in_metrics(rule.text, evidence.metrics);
    case ProofRule::Kind::kEnviron:
      return in_environ(rule.text, evidence.environ);
    case ProofRule::Kind::kJson:
      return in_json(rule.text, evidence);
  }
  return {};
}

Proof prove(const Knob& knob, const std::string& asked, const Evidence& evidence) {
  Proof proof;
  proof.knob = knob.name;
  proof.asked = asked;
  const auto special = knob.proof_for.find(asked);
  const bool presence = special != knob.proof_for.end();
  const ProofRule& rule = presence ? special->second : knob.proof;
  if (rule.kind == ProofRule::Kind::kNone) {
    proof.reason = "no_proof_declared";
    return proof;
  }
  const auto found = find_evidence(rule, evidence);
  if (!found) {
    proof.reason = "no_evidence";
    return proof;
  }
  proof.evidence = found->line;
  proof.confirmed = found->value.value_or(asked);
  proof.ok = same_value(*proof.confirmed, asked);
  if (!proof.ok) proof.reason = "value_differs";
  return proof;
}

}  // namespace

bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = parse_double(a), y = parse_double(b);
  return x && y && *x == *y;
}

std::vector<Proof> read_proofs(const Profile& profile, const Arm& arm, const Evidence& evidence) {
  std::vector<Proof> proofs;
  for (const Knob& knob : profile.knobs) {
    if (knob.active(arm.resolved)) proofs.push_back(prove(knob, arm.resolved.at(knob.name), evidence));
  }
  return proofs;
}

const Proof* BootFacts::proof_of(const std::string& knob) const {
  for (const Proof& proof : proofs) {
    if (proof.knob == knob) return &proof;
  }
  return nullptr;
}

}  // namespace bk::boot
