#include "report/format.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "report/number.h"
#include "report/table.h"

namespace bk::report {
namespace {

constexpr std::array<std::pair<Format, const char*>, 5> kNames = {{{Format::kTable, "table"},
                                                                   {Format::kJson, "json"},
                                                                   {Format::kJsonl, "jsonl"},
                                                                   {Format::kCsv, "csv"},
                                                                   {Format::kMarkdown, "md"}}};

/// A cell as people read it.
std::string shown(const Json& cell, const Column& column) {
  if (cell.is_null()) return kMissing;
  if (const auto text = cell.as_string()) return *text;
  if (const auto flag = cell.as_bool()) return *flag ? "yes" : "no";
  if (const auto whole = cell.as_int()) return std::to_string(*whole);
  if (const auto real = cell.as_double()) return number(real, column.digits);
  return cell.dump();
}

/// A cell as programs read it: all digits, nothing for null.
std::string plain(const Json& cell) {
  if (cell.is_null()) return {};
  if (const auto text = cell.as_string()) return *text;
  return cell.dump();
}

Json object_of(const Records& records, const std::vector<Json>& row) {
  Json object = Json::object();
  for (std::size_t i = 0; i < records.columns.size() && i < row.size(); ++i) object.set(records.columns[i].key, row[i]);
  return object;
}

std::string render_json(const Records& records) {
  Json document = records.meta.is_object() ? records.meta : Json::object();
  Json rows = Json::array();
  for (const auto& row : records.rows) rows.push(object_of(records, row));
  document.set("rows", std::move(rows));
  return document.dump(2) + "\n";
}

std::string render_csv(const Records& records) {
  std::vector<std::string> fields;
  for (const Column& column : records.columns) fields.push_back(column.key);
  std::string out = csv_line(fields);
  for (const auto& row : records.rows) {
    fields.clear();
    for (const Json& cell : row) fields.push_back(plain(cell));
    out += csv_line(fields);
  }
  return out;
}

std::string render_for_people(const Records& records, Format format) {
  std::vector<std::string> header;
  std::vector<Align> align;
  for (const Column& column : records.columns) {
    const std::string& name = column.header.empty() ? column.key : column.header;
    header.push_back(column.unit.empty() ? name : name + " [" + column.unit + "]");
    align.push_back(column.align);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : records.rows) {
    auto& cells = rows.emplace_back();
    for (std::size_t i = 0; i < records.columns.size() && i < row.size(); ++i) {
      cells.push_back(shown(row[i], records.columns[i]));
    }
  }
  return format == Format::kTable ? table(header, align, rows) : markdown_table(header, align, rows);
}

}  // namespace

Result<Format> parse_format(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [format, text] : kNames) {
    if (name == text) return format;
    known.emplace_back(text);
  }
  return fail(Errc::kUsage, "unknown format '" + std::string(name) + "'; one of " + join(known, ", "));
}

const char* to_string(Format format) {
  for (const auto& [known, text] : kNames) {
    if (known == format) return text;
  }
  return "table";
}

std::string render(const Records& records, Format format) {
  switch (format) {
    case Format::kJson:
      return render_json(records);
    case Format::kJsonl: {
      std::string out;
      for (const auto& row : records.rows) out += object_of(records, row).dump() + "\n";
      return out;
    }
    case Format::kCsv:
      return render_csv(records);
    case Format::kTable:
    case Format::kMarkdown:
      break;
  }
  return render_for_people(records, format);
}

}  // namespace bk::report
