#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model.h"

namespace bk::b12x {

/// How the experts are split: over `size` GPUs by width (TP) or by number (EP, expert parallelism).
enum class Split { kTp, kEp };

struct Verdict {
  Split split = Split::kTp;
  std::int64_t size = 1;
  bool serves = false;
  std::string why;  ///< the arithmetic, in one line, also when it serves
  /// Width to which padding would let the engine boot: it would then compute with weights that are not the model's.
  /// 0: no padding makes it boot, or none is needed.
  std::int64_t corrupting_padding = 0;
};

/// Rows of a tile of the b12x kernels. Source: stkernel-facts, section 9.
constexpr std::int64_t kAlignment = 128;

/// Without expert parallelism intermediate/size must be whole and 2*intermediate/size a multiple of 128. With it the
/// intermediate must be a multiple of 128 and the experts divisible by the size. Source: stkernel-facts, section 9.
[[nodiscard]] Verdict judge(const Shape& shape, Split split, std::int64_t size);

/// judge() for each size, TP first.
[[nodiscard]] std::vector<Verdict> judge_all(const Shape& shape, const std::vector<std::int64_t>& sizes);

[[nodiscard]] std::string name_of(Split split, std::int64_t size);  ///< "TP=4"

}  // namespace bk::b12x
