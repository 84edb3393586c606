#pragma once
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace bk::bench_conc_mpi {

/// The ranks of one run, through MPI. One object a process; everything but rank() and size() is called by all ranks
/// together, in the same order.
class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// Ok on every rank when all are; else the first failing rank's error, with the rank named, on every rank.
  [[nodiscard]] Status together(const Status& mine);
  /// Whether any rank says so.
  [[nodiscard]] bool any(bool mine);
  /// Every rank's text on rank 0, in rank order; empty elsewhere.
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine);
  /// A moment on this rank's own clock that is the same moment everywhere, `ahead` from now.
  [[nodiscard]] Nanos common_start(Nanos ahead);

  /// Measures how far each rank's clock is from rank 0's: the answer with the shortest way of 64.
  void measure_clocks();
  [[nodiscard]] Nanos offset() const { return offset_; }      ///< this rank's clock - rank 0's
  [[nodiscard]] Nanos clock_error() const { return error_; }  ///< half that shortest way

 private:
  int rank_ = 0, size_ = 1;
  Nanos offset_ = 0, error_ = 0;
};

/// This process's rank as its launcher says, before MPI is up; 0 when nothing says it.
[[nodiscard]] int launched_rank();

}  // namespace bk::bench_conc_mpi
