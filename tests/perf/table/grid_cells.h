#pragma once
#include <string>
#include <vector>

namespace bk::perf {

/// One run of one program: the engine's flags, the program's, and how often it is run on that engine.
struct GridCell {
  std::string program, knobs;
  std::vector<std::string> engine, flags;
  int runs = 1;  ///< the last one is compared: a second run of one seed finds its prompts in the cache
};

/// `quick`: few of them, that show that all programs can be compared.
[[nodiscard]] std::vector<GridCell> grid_cells(bool quick);

}  // namespace bk::perf
