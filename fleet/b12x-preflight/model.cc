#include "model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.h"

namespace bk::b12x {
namespace {

constexpr std::array kPlaces = {"", "text_config", "language_config", "llm_config"};
constexpr std::array kExpertKeys = {"n_routed_experts", "num_experts", "num_local_experts"};
constexpr std::array kWidthKeys = {"moe_intermediate_size", "expert_intermediate_size"};

struct Found {
  std::string place, key;
  std::int64_t value = 0;
};

std::string where(const std::string& place, const std::string& key) { return place.empty() ? key : place + "." + key; }

/// The first of the keys that an object has; a value that is no positive whole number is an error.
template <std::size_t N>
Result<std::optional<Found>> find_size(const Json& object, const std::string& place,
                                       const std::array<const char*, N>& keys) {
  for (const char* key : keys) {
    const Json* value = object.find(key);
    if (value == nullptr || value->is_null()) continue;
    const auto number = value->as_int();
    if (!number || *number < 1) {
      return fail(Errc::kParse, "is no positive whole number", where(place, key));
    }
    return std::optional<Found>({place, key, *number});
  }
  return std::optional<Found>();
}

/// One value over all places; two different ones are an error.
template <std::size_t N>
Result<std::optional<Found>> find_in_places(const Json& config, const std::array<const char*, N>& keys) {
  std::optional<Found> first;
  for (const char* place : kPlaces) {
    const Json* object = *place == '\0' ? &config : config.find(place);
    if (object == nullptr || !object->is_object()) continue;
    BK_ASSIGN(const auto found, find_size(*object, place, keys));
    if (!found) continue;
    if (first && first->value != found->value) {
      return fail(Errc::kParse, fmt::format("{} is {} and {} is {}: which one holds?", where(first->place, first->key),
                                            first->value, where(found->place, found->key), found->value));
    }
    if (!first) first = found;
  }
  return first;
}

/// The width that a tensor of one expert shows; nothing when it is another matrix.
std::optional<std::int64_t> width_of(std::string_view stem, const std::vector<Json>& dimensions) {
  const auto rows = dimensions[0].as_int();
  if (!rows || *rows < 1) return {};
  for (const char* end : {".up_proj", ".gate_proj", ".w1", ".w3"}) {
    if (stem.ends_with(end)) return rows;
  }
  if (stem.ends_with(".gate_up_proj") && *rows % 2 == 0) return *rows / 2;
  return {};
}

/// The number behind ".experts."; -1: none.
std::int64_t expert_of(std::string_view name) {
  constexpr std::string_view kMark = ".experts.";
  const std::string_view rest = name.substr(name.find(kMark) + kMark.size());
  return parse_int(rest.substr(0, rest.find('.'))).value_or(-1);
}

Status compare_fused(const Shape& shape, const std::string& name, const std::vector<Json>& dimensions) {
  const std::int64_t both = 2 * shape.intermediate;
  if (dimensions[0].as_int() != shape.experts) {
    return fail(Errc::kMismatch, fmt::format("config.json says {} {}, but {} holds {}", shape.experts_key,
                                             shape.experts, name, dimensions[0].as_int().value_or(0)));
  }
  if (dimensions[1].as_int() == both || dimensions[2].as_int() == both) return {};
  return fail(Errc::kMismatch, fmt::format("config.json says {} {}, but no dimension of {} is twice that",
                                           shape.intermediate_key, shape.intermediate, name));
}

}  // namespace

Result<Shape> shape_of(const Json& config) {
  if (!config.is_object()) return fail(Errc::kParse, "config.json holds no object");
  BK_ASSIGN(const auto experts, find_in_places(config, kExpertKeys));
  if (!experts)
    return fail(Errc::kUnavailable, "the model has no routed experts: the rules are for mixtures of experts");
  BK_ASSIGN(auto width, find_in_places(config, kWidthKeys));
  if (!width) {
    BK_ASSIGN(width, find_in_places(config, std::array{"intermediate_size"}));
  }
  if (!width) return fail(Errc::kParse, "no moe_intermediate_size, expert_intermediate_size or intermediate_size");
  return Shape{width->value, experts->value, width->place, width->key, experts->key};
}

Status compare_header(const Shape& shape, const Json& header, Seen& seen) {
  for (const auto& [name, tensor] : header.members()) {
    if (name.find(".experts.") == std::string::npos || name.find("shared_experts") != std::string::npos) continue;
    const auto& dimensions = tensor["shape"].items();
    std::string_view stem = name;
    for (const std::string_view end : {".weight", ".weight_packed"}) {
      if (stem.ends_with(end)) stem.remove_suffix(end.size());
    }
    if (dimensions.size() == 3 && stem.ends_with(".gate_up_proj")) {
      BK_TRY(compare_fused(shape, name, dimensions));
      ++seen.tensors;
      continue;
    }
    const auto width = dimensions.size() == 2 && stem.size() < name.size() ? width_of(stem, dimensions) : std::nullopt;
    if (!width) continue;
    ++seen.tensors;
    seen.highest_expert = std::max(seen.highest_expert, expert_of(name));
    if (*width == shape.intermediate) continue;
    return fail(Errc::kMismatch, fmt::format("config.json says {} {}, but {} has {} rows", shape.intermediate_key,
                                             shape.intermediate, name, *width));
  }
  return {};
}

Result<Json> parse_safetensors_header(std::string_view head, std::uint64_t file_bytes) {
  constexpr std::uint64_t kLargest = 100'000'000;
  constexpr std::size_t kPrefix = 8;
  if (head.size() < kPrefix) return fail(Errc::kParse, "shorter than a safetensors header");
  std::uint64_t length = 0;
  for (std::size_t i = kPrefix; i-- > 0;) length = length << 8U | static_cast<unsigned char>(head[i]);
  if (length < 2 || length > kLargest || length > file_bytes - kPrefix) {
    return fail(Errc::kParse, fmt::format("a header of {} bytes in a file of {}", length, file_bytes));
  }
  if (head.size() < kPrefix + length) return fail(Errc::kParse, "the header is cut");
  auto json = parse_json(head.substr(kPrefix, length));
  if (!json) return fail(json.error().with("header"));
  if (!json->is_object()) return fail(Errc::kParse, "the header is no object");
  return json;
}

}  // namespace bk::b12x
