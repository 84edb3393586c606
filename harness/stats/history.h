#pragma once
#include <vector>

#include "stats/assess.h"

namespace bk::stats {

/// Base boots that ran in one session, in their order. Only their scatter counts, never their level: the level may
/// have moved since.
struct HistoryGroup {
  std::vector<BootValues> boots;
  double weight = 1;  ///< 0..1: how much of its degrees of freedom still counts for the engine and machine of today
};

/// Groups of at least this many boots give a degree of freedom for their own linear drift; smaller ones only for their
/// mean, where drift then counts as noise.
inline constexpr int kDriftedGroup = 5;

/// The boot variance that earlier base boots show, for the raw value, the value at equal acceptance and acceptance
/// itself, each for a boot measured like those of `bracket`.
///
/// Variances are pooled over groups by degrees of freedom, each group's multiplied by its weight: a power prior.
/// Source: Ibrahim and Chen, "Power prior distributions for regression models", Statistical Science 15 (2000).
/// A boot's number carries the boot's own deviation and the sampling error of its median; history with other sample
/// counts is corrected by the difference of the sampling errors, whose variance is pooled within boots. The degrees of
/// freedom of that sum are Satterthwaite's: df = (sum v)² / sum(v² / df).
/// Source: Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics 2 (1946).
[[nodiscard]] History boot_history(const std::vector<HistoryGroup>& groups, const std::vector<BootValues>& bracket);

/// The same for boots that are still planned, of `samples` (1 or more) each.
[[nodiscard]] History planned_history(const std::vector<HistoryGroup>& groups, int samples);

}  // namespace bk::stats
