#include "rules.h"

#include <fmt/format.h>

namespace bk::b12x {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

Verdict judge_tp(const Shape& shape, std::int64_t size) {
  Verdict verdict{Split::kTp, size, false, {}, 0};
  const std::int64_t width = shape.intermediate;
  // 2*width/size a multiple of 128 with width/size whole: width a multiple of 64*size.
  const std::int64_t padded = round_up(width, kAlignment / 2 * size);
  if (width % size != 0) {
    verdict.why = fmt::format("{} / {} is not whole", width, size);
  } else if (2 * width / size % kAlignment != 0) {
    verdict.why = fmt::format("2 * {} / {} = {} is no multiple of {}", width, size, 2 * width / size, kAlignment);
  } else {
    verdict.serves = true;
    verdict.why = fmt::format("2 * {} / {} = {} is a multiple of {}", width, size, 2 * width / size, kAlignment);
  }
  if (!verdict.serves) verdict.corrupting_padding = padded;
  return verdict;
}

Verdict judge_ep(const Shape& shape, std::int64_t size) {
  Verdict verdict{Split::kEp, size, false, {}, 0};
  const bool aligned = shape.intermediate % kAlignment == 0;
  const bool divides = shape.experts % size == 0;
  if (!aligned) {
    verdict.why = fmt::format("{} is no multiple of {}", shape.intermediate, kAlignment);
    if (divides) verdict.corrupting_padding = round_up(shape.intermediate, kAlignment);
  }
  if (!divides) {
    verdict.why += fmt::format("{}{} experts are not divisible by {}", aligned ? "" : "; ", shape.experts, size);
  }
  if (aligned && divides) {
    verdict.serves = true;
    verdict.why = fmt::format("{} is a multiple of {}, {} experts / {} = {}", shape.intermediate, kAlignment,
                              shape.experts, size, shape.experts / size);
  }
  return verdict;
}

}  // namespace

Verdict judge(const Shape& shape, Split split, std::int64_t size) {
  return split == Split::kTp ? judge_tp(shape, size) : judge_ep(shape, size);
}

std::vector<Verdict> judge_all(const Shape& shape, const std::vector<std::int64_t>& sizes) {
  std::vector<Verdict> verdicts;
  for (const Split split : {Split::kTp, Split::kEp}) {
    for (const std::int64_t size : sizes) verdicts.push_back(judge(shape, split, size));
  }
  return verdicts;
}

std::string name_of(Split split, std::int64_t size) {
  return fmt::format("{}={}", split == Split::kTp ? "TP" : "EP", size);
}

}  // namespace bk::b12x
