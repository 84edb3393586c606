#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace bk::report {

enum class Format { kTable, kJson, kJsonl, kCsv, kMarkdown };
/// "table", "json", "jsonl", "csv", "md". kUsage naming the five otherwise.
[[nodiscard]] Result<Format> parse_format(std::string_view name);
const char* to_string(Format format);

enum class Align { kLeft, kRight };

/// One column: the key of JSON and CSV (snake_case with its unit), and the header that people read.
struct Column {
  std::string key;
  std::string header;  ///< empty: the key
  std::string unit;    ///< shown after the header: "decode [tok/s]"
  Align align = Align::kRight;
  int digits = 4;  ///< significant digits of numbers in table and md; json, jsonl and csv carry the whole number
};

/// Records with named columns; a null cell prints as "-" for people, null in JSON and nothing in CSV.
struct Records {
  std::vector<Column> columns;
  std::vector<std::vector<Json>> rows;  ///< each as long as `columns`
  /// Members put beside the rows in JSON (schema_version, tool_version …), in order; other formats leave them out.
  Json meta;
};

/// The records in a format, ending with a newline. JSON is one object {meta…, "rows": [...]}; JSONL one row a line.
[[nodiscard]] std::string render(const Records& records, Format format);

}  // namespace bk::report
