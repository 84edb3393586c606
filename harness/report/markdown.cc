#include "report/markdown.h"

#include <algorithm>

#include "report/table.h"

namespace bk::report {
namespace {

bool word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

bool within_word(std::string_view text, std::size_t i) {
  return i > 0 && i + 1 < text.size() && word_byte(text[i - 1]) && word_byte(text[i + 1]);
}

}  // namespace

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
      case '>':  // quotes only at the start of a line
        out += i == 0 ? "&gt;" : ">";
        break;
      case ']':  // closes a link only before one of these
        out += i + 1 < text.size() && std::string_view("([:").find(text[i + 1]) != std::string_view::npos ? "\\]" : "]";
        break;
      case '_':  // emphasises only at a word's edge
        out += within_word(text, i) ? "_" : "\\_";
        break;
      case '&':
        out += "&amp;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
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
