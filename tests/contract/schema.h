#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace bk::contract {

/// The part of JSON Schema that schema/json uses: type, properties, required, additionalProperties, items, enum, const,
/// anyOf, and $ref into its own or another file of the folder ("common.json#/$defs/name").
class Schemas {
 public:
  /// Reads every *.json of a folder.
  explicit Schemas(const std::string& folder);
  /// What is wrong with a document by a schema; empty: nothing. One line each, with the place ("$.rows[2].ttft_ms").
  [[nodiscard]] std::vector<std::string> errors(const std::string& name, const Json& document) const;
  [[nodiscard]] const std::map<std::string, Json>& all() const { return files_; }

 private:
  struct At {
    std::string file;
    const Json* schema;
  };
  void check(const At& at, const Json& value, const std::string& place, std::vector<std::string>& errors) const;
  void check_object(const At& at, const Json& value, const std::string& place, std::vector<std::string>& errors) const;
  [[nodiscard]] At resolve(const At& at, const std::string& ref) const;
  std::map<std::string, Json> files_;
};

}  // namespace bk::contract
