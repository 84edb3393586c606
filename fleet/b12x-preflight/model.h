#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace bk::b12x {

/// The sizes that decide. All are positive.
struct Shape {
  std::int64_t intermediate = 0;  ///< width of one expert's hidden layer, as its weights are stored
  std::int64_t experts = 0;       ///< routed experts
  std::string found_in;           ///< the object of config.json that holds them: "" (top), "text_config", …
  std::string intermediate_key;   ///< "moe_intermediate_size", …
  std::string experts_key;        ///< "n_routed_experts", …
};

/// Reads the shape of a mixture-of-experts model from config.json; the sizes may sit at the top or in text_config,
/// language_config or llm_config. kUnavailable when the model has no routed experts (a dense model: the rules do not
/// apply); kParse when the sizes are missing, no positive whole numbers, or two places disagree.
[[nodiscard]] Result<Shape> shape_of(const Json& config);

/// What the safetensors files of a model said of its routed experts.
struct Seen {
  std::int64_t tensors = 0;          ///< of routed experts, compared with the shape
  std::int64_t highest_expert = -1;  ///< of tensors that name their expert; -1: none does
};

/// Compares every routed expert's tensor that a safetensors header (the JSON at the head of the file) names with the
/// shape. Of each expert alone: the first dimension of an up_proj or gate_proj (w1, w3) weight, or half of a
/// gate_up_proj; of all in one tensor, gate_up_proj: the experts, and twice the width in one of its dimensions.
/// kMismatch naming the first tensor that differs.
[[nodiscard]] Status compare_header(const Shape& shape, const Json& header, Seen& seen);

/// The header of a safetensors file's first bytes: eight bytes of length, little endian, then JSON. kParse for a
/// length below 2, above 100 MB (the format's own limit) or beyond the file's `file_bytes`, a cut header, or broken
/// JSON.
[[nodiscard]] Result<Json> parse_safetensors_header(std::string_view head, std::uint64_t file_bytes);

}  // namespace bk::b12x
