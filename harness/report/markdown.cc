#include "report/markdown.h"

#include <algorithm>

#include "report/table.h"

namespace bk::report {

std::string markdown_escape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '\r':
        break;
      case '\n':
        out += "<br>";
        break;
      case '\t':
        out += ' ';
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '~':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

std::string markdown_table(const std::vector<std::string>& header, const std::vector<Align>& align,
                           const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> cells(1);
  for (const std::string& name : header) cells[0].push_back(markdown_escape(name));
  for (const auto& row : rows) {
    auto& escaped = cells.emplace_back();
    for (const std::string& cell : row) escaped.push_back(markdown_escape(cell));
  }
  std::vector<std::size_t> widths(header.size(), 3);
  for (const auto& row : cells) {
    for (std::size_t i = 0; i < widths.size() && i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  const auto side = [&](std::size_t i) { return i < align.size() ? align[i] : Align::kLeft; };
  std::string out;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += "| " + pad(i < cells[r].size() ? cells[r][i] : "", widths[i], side(i)) + " ";
    }
    out += "|\n";
    if (r != 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += "| " + std::string(widths[i] - 1, '-') + (side(i) == Align::kRight ? ":" : "-") + " ";
    }
    out += "|\n";
  }
  return out;
}

}  // namespace bk::report
