#pragma once
#include <cstdint>
#include <optional>
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
};

/// Reads the shape of a mixture-of-experts model from config.json; the sizes may sit at the top or in text_config,
/// language_config or llm_config. kUnavailable when the model has no routed experts (a dense model: the rules do not
/// apply); kParse when the sizes are missing, no positive whole numbers, or two places disagree.
[[nodiscard]] Result<Shape> shape_of(const Json& config);

/// What the tensors' own headers say of one routed expert.
struct ExpertTensor {
  std::string name;
  std::int64_t intermediate = 0;
};

/// The routed experts' width in a safetensors header (the JSON at the head of the file): the first dimension of an
/// up_proj or gate_proj (w1, w3) weight, or half of a gate_up_proj. Nothing when the header names no such tensor.
[[nodiscard]] std::optional<ExpertTensor> expert_tensor(const Json& header);

/// The header of a safetensors file's first bytes: eight bytes of length, little endian, then JSON. kParse for a
/// length below 2, above 100 MB (the format's own limit) or beyond the file's `file_bytes`, a cut header, or broken
/// JSON.
[[nodiscard]] Result<Json> parse_safetensors_header(std::string_view head, std::uint64_t file_bytes);

}  // namespace bk::b12x
