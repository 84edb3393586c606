#include "simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace bk::ngram_ceiling {
namespace {

std::optional<double> ratio(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  return static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

Result<AcceptLaw> AcceptLaw::parse(const std::string& percents, int k) {
  AcceptLaw law;
  double last = 1.0;
  for (const std::string_view part : split(percents, ',')) {
    const auto percent = parse_double(trim(part));
    if (!percent || *percent < 0 || *percent > 100) {
      return fail(Errc::kUsage, "acceptance by position is a list of percentages", "--per-pos " + percents);
    }
    if (*percent / 100 > last) {
      return fail(Errc::kUsage, "cumulative acceptance never rises from one position to the next",
                  "--per-pos " + percents);
    }
    last = *percent / 100;
    law.curve_.push_back(last);
  }
  if (std::ssize(law.curve_) != k) {
    return fail(Errc::kUsage, fmt::format("{} positions for {} drafts: give one for each", law.curve_.size(), k),
                "--per-pos " + percents);
  }
  return law;
}

std::vector<double> AcceptLaw::pmf() const {
  std::vector<double> p;
  for (std::size_t m = 0; m <= curve_.size(); ++m) {
    p.push_back((m == 0 ? 1.0 : curve_[m - 1]) - (m == curve_.size() ? 0.0 : curve_[m]));
  }
  return p;
}

double AcceptLaw::mean() const { return std::accumulate(curve_.begin(), curve_.end(), 0.0); }

int AcceptLaw::draw(load::Random& random) const {
  const double u = random.uniform();
  int m = 0;
  while (m < std::ssize(curve_) && u >= 1.0 - curve_[static_cast<std::size_t>(m)]) ++m;
  return m;
}

void NgramIndex::extend(std::size_t t) {
  const auto n = static_cast<std::size_t>(rule_.nmin);
  for (std::size_t end = std::max(indexed_ + 1, n); end <= t; ++end) {
    const auto last = tokens_.begin() + static_cast<std::ptrdiff_t>(end);
    auto& ends = ends_[Tokens(last - rule_.nmin, last)];
    ends.push_back(end);
    if (std::ssize(ends) > rule_.keep) ends.erase(ends.begin());
  }
  indexed_ = std::max(indexed_, t);
}

std::optional<Match> NgramIndex::find(std::size_t t) {
  const auto n = static_cast<std::size_t>(rule_.nmin);
  if (t < n || t > tokens_.size()) return std::nullopt;
  extend(t);
  const auto last = tokens_.begin() + static_cast<std::ptrdiff_t>(t);
  const auto found = ends_.find(Tokens(last - rule_.nmin, last));
  std::optional<Match> best;
  if (found == ends_.end()) return best;
  for (const std::size_t end : found->second) {
    if (end >= t) continue;
    std::size_t length = n;
    while (length < static_cast<std::size_t>(rule_.nmax) && length < end &&
           tokens_[end - 1 - length] == tokens_[t - 1 - length]) {
      ++length;
    }
    if (!best || static_cast<int>(length) >= best->length) best = Match{static_cast<int>(length), end};
  }
  return best;
}

Copy copy_from(const Tokens& tokens, std::size_t position, std::size_t t, int k) {
  Copy copy;
  const std::size_t end = std::min(position + static_cast<std::size_t>(k), t);
  copy.proposed = static_cast<int>(end - position);
  for (std::size_t i = 0; position + i < end && t + i < tokens.size() && tokens[position + i] == tokens[t + i]; ++i) {
    ++copy.accepted;
  }
  return copy;
}

std::optional<double> Totals::tokens_per_step() const { return ratio(generated, steps); }
std::optional<double> Totals::copy_share() const { return ratio(copied_steps, steps); }
std::optional<double> Totals::accepted_when_copied() const { return ratio(copied_accepted, copied_steps); }

Totals& Totals::operator+=(const Totals& other) {
  generated += other.generated;
  steps += other.steps;
  copied_steps += other.copied_steps;
  copied_accepted += other.copied_accepted;
  return *this;
}

Totals simulate(const Document& document, const AcceptLaw& law, const Config& config, Policy policy) {
  Totals totals;
  load::Random random(config.seed);
  NgramIndex index(document.tokens, config.match);
  const int needed = policy == Policy::kOracle ? config.match.nmin : config.threshold;
  std::size_t t = document.prompt;
  while (t < document.tokens.size()) {
    int accepted = law.draw(random);
    const auto match = policy == Policy::kBase ? std::nullopt : index.find(t);
    if (match && match->length >= needed) {
      const int copied = copy_from(document.tokens, match->position, t, config.k).accepted;
      if (policy == Policy::kHybrid || copied > accepted) {
        accepted = copied;
        ++totals.copied_steps;
        totals.copied_accepted += copied;
      }
    }
    ++totals.steps;
    t += 1 + static_cast<std::size_t>(accepted);
  }
  totals.generated =
      static_cast<std::int64_t>(document.tokens.size() - std::min(document.prompt, document.tokens.size()));
  return totals;
}

std::optional<double> uplift_pct(const Totals& policy, const Totals& base) {
  const auto a = policy.tokens_per_step(), b = base.tokens_per_step();
  if (!a || !b || *b <= 0) return std::nullopt;
  return 100.0 * (*a / *b - 1.0);
}

bool clears(double uplift) { return std::round(uplift * 100.0) / 100.0 >= kClears_pct; }

}  // namespace bk::ngram_ceiling
