#pragma once
#include <string>
#include <utility>
#include <vector>

#include "report/format.h"

namespace bk::census {

/// What a command found: facts by name, then tables.
struct Page {
  struct Fact {
    std::string key;    ///< of JSON
    std::string label;  ///< for people; empty: JSON alone
    Json value;
    std::string text;  ///< for people
  };
  struct Section {
    std::string key;
    std::string title;
    report::Records records;
    std::size_t shown = 0;  ///< rows in table and md; 0: all. JSON has every row
  };
  std::vector<Fact> facts;
  std::vector<Section> sections;
  std::vector<std::string> notes;  ///< lines for people; "notes" in JSON
};

/// Table, JSON (one object: schema_version, tool, tool_version, commit, facts, one array a section) or Markdown.
[[nodiscard]] std::string render(const Page& page, report::Format format);

/// Columns by their short forms: a left-aligned text, and numbers with a unit in the key.
[[nodiscard]] report::Column text_column(const std::string& key, const std::string& header);
[[nodiscard]] report::Column number_column(const std::string& key, const std::string& header, int digits = 4);

}  // namespace bk::census
