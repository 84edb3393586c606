#include "page.h"

#include <fmt/format.h>

#include "base/version.h"
#include "report/markdown.h"
#include "report/table.h"

namespace bk::census {
namespace {

constexpr std::size_t kNameWidth = 72;

report::Records for_people(const Page::Section& section, bool clipped) {
  report::Records records = section.records;
  if (section.shown > 0 && records.rows.size() > section.shown) records.rows.resize(section.shown);
  if (!clipped) return records;
  for (auto& row : records.rows) {
    for (Json& cell : row) {
      const auto text = cell.as_string();
      if (!text || report::display_width(*text) <= kNameWidth) continue;
      cell = std::string(report::clip(*text, kNameWidth - 1)) + "…";
    }
  }
  return records;
}

std::string as_text(const Page& page, bool markdown) {
  std::string text;
  for (const auto& fact : page.facts) {
    if (fact.label.empty()) continue;
    text += markdown ? fmt::format("- {}: {}\n", fact.label, report::markdown_escape(fact.text))
                     : fmt::format("{}: {}\n", fact.label, report::one_line(fact.text));
  }
  for (const std::string& note : page.notes)
    text += markdown ? fmt::format("- {}\n", note) : report::one_line(note) + "\n";
  for (const auto& section : page.sections) {
    const auto records = for_people(section, !markdown);
    text += fmt::format("\n{}{}\n{}", markdown ? "## " : "", section.title, markdown ? "\n" : "");
    text += report::render(records, markdown ? report::Format::kMarkdown : report::Format::kTable);
  }
  return text;
}

Json as_json(const Page& page) {
  Json json = Json::object();
  json.set("schema_version", 1).set("tool", "census").set("tool_version", version()).set("commit", commit());
  for (const auto& fact : page.facts) json.set(fact.key, fact.value);
  for (const auto& section : page.sections) {
    Json rows = Json::array();
    for (const auto& row : section.records.rows) {
      Json object = Json::object();
      for (std::size_t i = 0; i < row.size(); ++i) object.set(section.records.columns[i].key, row[i]);
      rows.push(std::move(object));
    }
    json.set(section.key, std::move(rows));
  }
  json.set("notes", Json(page.notes));
  return json;
}

}  // namespace

std::string render(const Page& page, report::Format format) {
  if (format == report::Format::kJson) return as_json(page).dump(2) + "\n";
  return as_text(page, format == report::Format::kMarkdown);
}

report::Column text_column(const std::string& key, const std::string& header) {
  return {key, header, "", report::Align::kLeft, 4};
}

report::Column number_column(const std::string& key, const std::string& header, int digits) {
  return {key, header, "", report::Align::kRight, digits};
}

}  // namespace bk::census
