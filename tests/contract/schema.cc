#include "contract/schema.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace bk::contract {
namespace {

/// A misspelt keyword would check nothing.
const std::set<std::string>& known_keywords() {
  static const std::set<std::string> kKnown = {"$schema",     "$id",   "$defs",      "$ref",     "title",
                                               "description", "type",  "properties", "required", "additionalProperties",
                                               "items",       "anyOf", "enum",       "const"};
  return kKnown;
}

bool is_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.as_string().has_value();
  if (type == "boolean") return value.as_bool().has_value();
  if (type == "integer") return value.as_int().has_value();
  return type == "number" && value.as_double().has_value();
}

bool has_type(const Json& value, const Json& types) {
  if (const auto one = types.as_string()) return is_type(value, *one);
  const auto& all = types.items();
  return std::any_of(all.begin(), all.end(), [&](const Json& type) { return is_type(value, *type.as_string()); });
}

bool has_member(const Json& object, const std::string& key) {
  const auto& members = object.members();
  return std::any_of(members.begin(), members.end(), [&](const auto& member) { return member.first == key; });
}

}  // namespace

Schemas::Schemas(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    auto document = parse_json(read_file(entry.path()).value());
    INFO(entry.path().string() << (document ? "" : document.error().what));
    REQUIRE(document);
    files_.emplace(entry.path().filename().string(), std::move(*document));
  }
}

std::vector<std::string> Schemas::errors(const std::string& name, const Json& document) const {
  const auto found = files_.find(name + ".json");
  if (found == files_.end()) return {"schema/json/" + name + ".json is missing"};
  std::vector<std::string> errors;
  check({found->first, &found->second}, document, "$", errors);
  return errors;
}

Schemas::At Schemas::resolve(const At& at, const std::string& ref) const {
  const auto hash = ref.find('#');
  At found{ref.substr(0, hash).empty() ? at.file : ref.substr(0, hash), nullptr};
  INFO(ref);
  REQUIRE(files_.count(found.file) == 1);
  found.schema = &files_.at(found.file);
  if (hash == std::string::npos) return found;
  const std::string pointer = ref.substr(hash + 1);
  for (const std::string_view part : split(pointer, '/')) {
    if (part.empty()) continue;
    REQUIRE(has_member(*found.schema, std::string(part)));
    found.schema = &(*found.schema)[std::string(part)];
  }
  return found;
}

void Schemas::check(const At& at, const Json& value, const std::string& place, std::vector<std::string>& errors) const {
  const Json& schema = *at.schema;
  for (const auto& [keyword, unused] : schema.members()) {
    if (known_keywords().count(keyword) == 0) errors.push_back(at.file + ": unknown keyword " + keyword);
  }
  if (const auto ref = schema["$ref"].as_string()) return check(resolve(at, *ref), value, place, errors);
  if (schema["anyOf"].is_array()) {
    const auto& choices = schema["anyOf"].items();
    const bool fits = std::any_of(choices.begin(), choices.end(), [&](const Json& choice) {
      std::vector<std::string> of_choice;
      check({at.file, &choice}, value, place, of_choice);
      return of_choice.empty();
    });
    if (!fits) errors.push_back(place + ": " + value.dump().substr(0, 60) + " fits none of the choices");
  }
  if (!schema["type"].is_null() && !has_type(value, schema["type"])) {
    errors.push_back(place + ": " + value.dump().substr(0, 60) + " is no " + schema["type"].dump());
    return;
  }
  if (schema["enum"].is_array()) {
    const auto& allowed = schema["enum"].items();
    if (std::none_of(allowed.begin(), allowed.end(), [&](const Json& one) { return one.dump() == value.dump(); })) {
      errors.push_back(place + ": " + value.dump() + " is none of " + schema["enum"].dump());
    }
  }
  if (has_member(schema, "const") && schema["const"].dump() != value.dump()) {
    errors.push_back(place + ": " + value.dump() + " is not " + schema["const"].dump());
  }
  if (value.is_object()) check_object(at, value, place, errors);
  if (value.is_array() && !schema["items"].is_null()) {
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      check({at.file, &schema["items"]}, value.items()[i], fmt::format("{}[{}]", place, i), errors);
    }
  }
}

void Schemas::check_object(const At& at, const Json& value, const std::string& place,
                           std::vector<std::string>& errors) const {
  const Json& schema = *at.schema;
  for (const Json& name : schema["required"].items()) {
    if (!has_member(value, *name.as_string())) errors.push_back(place + ": " + *name.as_string() + " is missing");
  }
  for (const auto& [name, member] : value.members()) {
    const std::string inner = place + "." + name;
    if (has_member(schema["properties"], name)) {
      check({at.file, &schema["properties"][name]}, member, inner, errors);
    } else if (schema["additionalProperties"].as_bool() == false) {
      errors.push_back(inner + " is not documented");
    } else if (schema["additionalProperties"].is_object()) {
      check({at.file, &schema["additionalProperties"]}, member, inner, errors);
    }
  }
}

}  // namespace bk::contract
