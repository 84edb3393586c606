#pragma once

#include <string>
#include <vector>

#include "prep_fused/plan.h"

namespace bk::kernels {

struct PrepTensor {
  std::string name;
  std::vector<std::int64_t> values;
};

/// Every tensor of BkPrep, token by token from the definitions: 4, and 6 for each group, in the order of the header.
std::vector<PrepTensor> reference_prep(const PrepStep& step, std::span<const GroupShape> groups);

}  // namespace bk::kernels
