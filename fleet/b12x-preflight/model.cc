#include "model.h"

#include <fmt/format.h>

#include <array>

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
  return Shape{width->value, experts->value, width->place, width->key};
}

std::optional<ExpertTensor> expert_tensor(const Json& header) {
  for (const auto& [name, tensor] : header.members()) {
    if (name.find(".experts.") == std::string::npos || name.find("shared_experts") != std::string::npos) continue;
    const auto& shape = tensor["shape"].items();
    if (!name.ends_with(".weight") || shape.size() != 2) continue;
    const auto rows = shape[0].as_int();
    if (!rows || *rows < 1) continue;
    const std::string_view stem = std::string_view(name).substr(0, name.size() - 7);
    for (const char* end : {".up_proj", ".gate_proj", ".w1", ".w3"}) {
      if (stem.ends_with(end)) return ExpertTensor{name, *rows};
    }
    if (stem.ends_with(".gate_up_proj") && *rows % 2 == 0) return ExpertTensor{name, *rows / 2};
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
