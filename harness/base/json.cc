#include "base/json.h"

#include <simdjson.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace bk {
namespace {

constexpr int kMaxDepth = 512;

void write_string(const std::string& text, std::string* out) {
  *out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void newline(int indent, int depth, std::string* out) {
  if (indent < 0) return;
  *out += '\n';
  out->append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void write(const Json& value, int indent, int depth, std::string* out) {
  if (value.is_array()) {
    *out += '[';
    bool first = true;
    for (const Json& item : value.items()) {
      if (!first) *out += ',';
      newline(indent, depth + 1, out);
      write(item, indent, depth + 1, out);
      first = false;
    }
    if (!first) newline(indent, depth, out);
    *out += ']';
  } else if (value.is_object()) {
    *out += '{';
    bool first = true;
    for (const auto& [key, member] : value.members()) {
      if (!first) *out += ',';
      newline(indent, depth + 1, out);
      write_string(key, out);
      *out += indent < 0 ? ":" : ": ";
      write(member, indent, depth + 1, out);
      first = false;
    }
    if (!first) newline(indent, depth, out);
    *out += '}';
  } else if (const auto text = value.as_string()) {
    write_string(*text, out);
  } else if (const auto flag = value.as_bool()) {
    *out += *flag ? "true" : "false";
  } else if (const auto whole = value.as_int()) {
    *out += std::to_string(*whole);
  } else if (const auto number = value.as_double()) {
    *out += nlohmann::json(*number).dump();
  } else {
    *out += "null";
  }
}

Result<Json> convert(const simdjson::dom::element& element, int depth) {
  if (depth > kMaxDepth) return fail(Errc::kParse, "JSON nested too deeply");
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY: {
      Json out = Json::array();
      const simdjson::dom::array items = element.get_array().value_unsafe();
      for (const simdjson::dom::element item : items) {
        BK_ASSIGN(Json value, convert(item, depth + 1));
        out.push(std::move(value));
      }
      return out;
    }
    case simdjson::dom::element_type::OBJECT: {
      Json out = Json::object();
      const simdjson::dom::object members = element.get_object().value_unsafe();
      for (const auto field : members) {
        BK_ASSIGN(Json value, convert(field.value, depth + 1));
        out.set(field.key, std::move(value));
      }
      return out;
    }
    case simdjson::dom::element_type::STRING:
      return Json(std::string_view(element.get_string().value_unsafe()));
    case simdjson::dom::element_type::INT64:
      return Json(std::int64_t{element.get_int64().value_unsafe()});
    case simdjson::dom::element_type::UINT64:
      return Json(static_cast<double>(element.get_uint64().value_unsafe()));
    case simdjson::dom::element_type::DOUBLE:
      return Json(double{element.get_double().value_unsafe()});
    case simdjson::dom::element_type::BOOL:
      return Json(bool{element.get_bool().value_unsafe()});
    case simdjson::dom::element_type::NULL_VALUE:
      return Json();
  }
  return Json();
}

const Json kNull;
const Json::Array kNoItems;
const Json::Object kNoMembers;

}  // namespace

Json::Json(double value) {
  if (std::isfinite(value)) value_ = value;
}

std::optional<bool> Json::as_bool() const {
  const bool* value = std::get_if<bool>(&value_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> Json::as_int() const {
  const auto* value = std::get_if<std::int64_t>(&value_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> Json::as_double() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::string> Json::as_string() const {
  const auto* value = std::get_if<std::string>(&value_);
  return value ? std::optional(*value) : std::nullopt;
}

const Json::Array& Json::items() const {
  const auto* value = std::get_if<Array>(&value_);
  return value ? *value : kNoItems;
}

const Json::Object& Json::members() const {
  const auto* value = std::get_if<Object>(&value_);
  return value ? *value : kNoMembers;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Json& Json::operator[](std::string_view key) const {
  const Json* value = find(key);
  return value ? *value : kNull;
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = Object{};
  if (auto* object = std::get_if<Object>(&value_)) {
    for (auto& [name, old] : *object) {
      if (name == key) {
        old = std::move(value);
        return *this;
      }
    }
    object->emplace_back(std::string(key), std::move(value));
  }
  return *this;
}

Json& Json::push(Json value) {
  if (is_null()) value_ = Array{};
  if (auto* array = std::get_if<Array>(&value_)) array->push_back(std::move(value));
  return *this;
}

std::string Json::dump(int indent) const {
  std::string out;
  write(*this, indent, 0, &out);
  return out;
}

Result<Json> parse_json(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  const auto error = parser.parse(simdjson::padded_string(text)).get(element);
  if (error) return fail(Errc::kParse, std::string("not JSON: ") + simdjson::error_message(error));
  return convert(element, 0);
}

}  // namespace bk
