#pragma once
#include <optional>
#include <string>
#include <vector>

#include "leg/concurrency.h"
#include "load/sample.h"

namespace bk::bench_conc_mpi {

/// One cell of a sweep as a plan of its own: a single concurrency or rate, its requests counted out, no warm-up.
[[nodiscard]] std::vector<leg::ConcurrencyPlan> cells_of(const leg::ConcurrencyPlan& plan);

/// What rank `rank` of `size` does in a cell: its streams and requests, or its part of the rate, with prompts of its
/// own. The shares of all ranks add up to the cell. Nothing: the rank has no part in it.
struct Share {
  leg::ConcurrencyPlan plan;
  Nanos delay = 0;  ///< after the common start: ranks with constant arrivals take turns
};
[[nodiscard]] std::optional<Share> share_of(const leg::ConcurrencyPlan& cell, int rank, int size);

/// What a merged figure needs of each request, as text for the way to rank 0. `zero` is subtracted from its times.
[[nodiscard]] std::string to_text(const load::Sample& sample, Nanos zero);
/// The inverse, with `zero` added. kParse for anything that to_text() did not write.
[[nodiscard]] Result<load::Sample> from_text(const std::string& text, Nanos zero);

/// The samples of all ranks as the one that a single process would have measured. Times must be on one clock.
[[nodiscard]] load::Sample merged(const leg::ConcurrencyPlan& cell, const std::vector<load::Sample>& parts);

/// The line that Slurm runs this program with, one rank a node.
[[nodiscard]] std::string srun_line(int nodes, const std::vector<std::string>& args);

}  // namespace bk::bench_conc_mpi
