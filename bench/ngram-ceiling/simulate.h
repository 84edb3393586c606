#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/random.h"

/// What copying repeated text could add to a drafter, computed from texts alone: an upper bound before any boot.
namespace bk::ngram_ceiling {

using Tokens = std::vector<std::int64_t>;

/// How many of k drafts a drafter has accepted, from the cumulative curve c_1 … c_k (c_i: chance that at least i are).
class AcceptLaw {
 public:
  /// "78.5,56.4,39.6": percent. kUsage unless there are k numbers of 0 to 100 that never rise.
  static Result<AcceptLaw> parse(const std::string& percents, int k);
  [[nodiscard]] std::vector<double> pmf() const;       ///< P(0) … P(k): c_m - c_{m+1} with c_0 = 1, c_{k+1} = 0
  [[nodiscard]] double mean() const;                   ///< accepted a step: the sum of the curve
  [[nodiscard]] int draw(load::Random& random) const;  ///< by the inverse of the distribution; spends one uniform

 private:
  std::vector<double> curve_;
};

struct Match {
  int length = 0;            ///< tokens that agree before t, nmin to nmax
  std::size_t position = 0;  ///< where the earlier occurrence ends: what followed it is proposed
};

struct MatchRule {
  int nmin = 3, nmax = 16;
  int keep = 64;  ///< end positions kept for each nmin-gram, the current one included
};

/// Earlier occurrences of the tokens before a position. Positions must be asked in rising order.
class NgramIndex {
 public:
  NgramIndex(const Tokens& tokens, MatchRule rule) : tokens_(tokens), rule_(rule) {}
  /// The longest earlier match of what ends at t, ties to the later one; nothing when no nmin tokens repeat.
  [[nodiscard]] std::optional<Match> find(std::size_t t);

 private:
  void extend(std::size_t t);
  const Tokens& tokens_;
  MatchRule rule_;
  std::size_t indexed_ = 0;
  std::map<Tokens, std::vector<std::size_t>> ends_;
};

/// Of the k tokens that followed `position`, none at or beyond t, how many the text at t repeats; and how many there
/// were to propose.
struct Copy {
  int accepted = 0, proposed = 0;
};
[[nodiscard]] Copy copy_from(const Tokens& tokens, std::size_t position, std::size_t t, int k);

/// A document: tokens, and how many of them were given rather than generated.
struct Document {
  Tokens tokens;
  std::size_t prompt = 0;
};

enum class Policy { kBase, kHybrid, kOracle };  ///< drafter alone; copy when matched long enough; the better of both

struct Config {
  int k = 5;
  MatchRule match;
  int threshold = 4;  ///< tokens of match from which the hybrid copies
  std::uint64_t seed = 0;
};

struct Totals {
  std::int64_t generated = 0, steps = 0, copied_steps = 0, copied_accepted = 0;
  [[nodiscard]] std::optional<double> tokens_per_step() const;
  [[nodiscard]] std::optional<double> copy_share() const;  ///< of steps
  [[nodiscard]] std::optional<double> accepted_when_copied() const;
  Totals& operator+=(const Totals& other);
};

/// Walks one document: each step advances by 1 + what was accepted. One uniform is drawn every step, from the seed anew
/// for each policy and document.
[[nodiscard]] Totals simulate(const Document& document, const AcceptLaw& law, const Config& config, Policy policy);

/// 100 (policy / base - 1); nothing when either has no step.
[[nodiscard]] std::optional<double> uplift_pct(const Totals& policy, const Totals& base);
inline constexpr double kClears_pct = 7.0;
/// True when the uplift, rounded to two decimals, reaches kClears_pct. Source: the ledger's ceiling rule.
[[nodiscard]] bool clears(double uplift_pct);

}  // namespace bk::ngram_ceiling
