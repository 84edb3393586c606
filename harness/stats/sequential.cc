#include "stats/sequential.h"

#include <algorithm>
#include <cmath>

#include "stats/random.h"
#include "stats/student.h"

namespace bk::stats {
namespace {

double upper_normal(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

/// The z >= 0 with an upper tail of `tail`.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double z = 0.5 * (low + high);
    (upper_normal(z) > tail ? low : high) = z;
  }
  return low;
}

/// Half of alpha on each side.
double spent(double fraction, double alpha) {
  return 4 * upper_normal(normal_quantile(alpha / 4) / std::sqrt(fraction));
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The model of the first boots as orthonormal columns, the arm's the last: a t value is two products away.
struct Look {
  std::vector<std::vector<double>> columns;
  double information = 0;  ///< about the arm, in boots

  Look(const std::vector<Arm>& order, int boots, bool drift) {
    std::vector<double> constant, time, arm;
    for (int i = 0; i < boots; ++i) {
      constant.push_back(1);
      time.push_back(i);
      arm.push_back(order[static_cast<std::size_t>(i)] == Arm::kCand ? 1 : 0);
    }
    add(constant);
    if (drift) add(time);
    information = add(arm);
  }
  [[nodiscard]] std::size_t boots() const { return columns.front().size(); }
  [[nodiscard]] double df() const { return static_cast<double>(boots()) - static_cast<double>(columns.size()); }
  /// @param values  of at least this look's boots
  [[nodiscard]] double t(const std::vector<double>& values) const {
    double squares = 0, along = 0;
    for (std::size_t i = 0; i < boots(); ++i) squares += values[i] * values[i];
    for (const auto& column : columns) {
      along = dot(column, values);
      squares -= along * along;
    }
    return std::fabs(along) / std::sqrt(squares / df());
  }

 private:
  /// The squared length that the columns before it leave.
  double add(std::vector<double> column) {
    for (const auto& before : columns) {
      const double share = dot(before, column);
      for (std::size_t i = 0; i < column.size(); ++i) column[i] -= share * before[i];
    }
    const double squares = dot(column, column);
    for (double& v : column) v /= std::sqrt(squares);
    columns.push_back(std::move(column));
    return squares;
  }
};

/// One simulated bracket that no look has stopped yet.
struct Path {
  std::vector<double> boots;
  double t = 0;
};

Result<std::vector<Look>> make_looks(const std::vector<Arm>& order, const std::vector<int>& looks, bool drift) {
  constexpr double kLeastInformation = 1e-9;
  std::vector<Look> out;
  int before = 0;
  for (const int boots : looks) {
    if (boots <= before) return fail(Errc::kUsage, "looks have to come at rising numbers of boots");
    if (static_cast<std::size_t>(boots) > order.size()) return fail(Errc::kUsage, "a look comes after the last boot");
    out.emplace_back(order, boots, drift);
    if (!(out.back().information > kLeastInformation) || out.back().df() < 1) {
      return fail(Errc::kUsage, fmt::format("{} boots are too few for a look", boots));
    }
    before = boots;
  }
  if (static_cast<std::size_t>(before) != order.size()) {
    return fail(Errc::kUsage, "the last look has to be at all boots");
  }
  return out;
}

}  // namespace

Result<std::vector<double>> look_alphas(const std::vector<Arm>& order, const std::vector<int>& looks, bool drift,
                                        double alpha) {
  constexpr std::size_t kPaths = 100'000;
  if (!(alpha > 0 && alpha < 1)) return fail(Errc::kUsage, "alpha has to lie between 0 and 1");
  BK_ASSIGN(const std::vector<Look> all, make_looks(order, looks, drift));
  Random random(1);
  std::vector<Path> going(kPaths, Path{std::vector<double>(order.size()), 0});
  for (Path& path : going) {
    for (double& value : path.boots) value = random.normal();
  }
  std::vector<double> out;
  for (const Look& look : all) {
    const double due = spent(look.information / all.back().information, alpha);
    // What was due before and not spent, for want of paths, is due now.
    const auto end = static_cast<std::size_t>(due * kPaths), gone = kPaths - going.size();
    const auto stop = going.begin() + static_cast<std::ptrdiff_t>(end > gone ? end - gone : 0);
    for (Path& path : going) path.t = look.t(path.boots);
    std::nth_element(going.begin(), stop, going.end(), [](const Path& a, const Path& b) { return a.t > b.t; });
    out.push_back(out.empty() ? due : t_two_sided_p(stop->t, look.df()));
    going.erase(going.begin(), stop);
  }
  return out;
}

}  // namespace bk::stats
