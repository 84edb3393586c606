#include "report/markdown.h"

#include <algorithm>
#include <array>

#include "report/table.h"

namespace bk::report {
namespace {

/// Bytes that markdown_escape looks at; most cells have none.
constexpr std::array<bool, 256> kMarkup = [] {
  std::array<bool, 256> is{};
  for (const char c : std::string_view("\r\n\t<>]_&|\\`*~")) is[static_cast<unsigned char>(c)] = true;
  return is;
}();

bool word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

bool within_word(std::string_view text, std::size_t i) {
  return i > 0 && i + 1 < text.size() && word_byte(text[i - 1]) && word_byte(text[i + 1]);
}

/// A cell as it will stand, and the columns that it takes.
struct Escaped {
  std::string text;
  std::size_t width = 0;
};

}  // namespace

std::string markdown_escape(std::string_view text) {
  const auto plain =
      std::find_if(text.begin(), text.end(), [](char c) { return kMarkup[static_cast<unsigned char>(c)]; });
  std::string out(text.begin(), plain);
  for (std::size_t i = out.size(); i < text.size(); ++i) {
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
  const std::size_t columns = header.size();
  std::vector<Escaped> cells;  // the header's, then each row's
  cells.reserve((rows.size() + 1) * columns);
  std::vector<std::size_t> widths(columns, 3);
  const auto take = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < columns; ++i) {
      Escaped& cell = cells.emplace_back();
      if (i < row.size()) cell.text = markdown_escape(row[i]);
      cell.width = display_width(cell.text);
      widths[i] = std::max(widths[i], cell.width);
    }
  };
  take(header);
  for (const auto& row : rows) take(row);
  const auto right = [&](std::size_t i) { return i < align.size() && align[i] == Align::kRight; };
  std::string out;
  for (std::size_t at = 0; at < cells.size(); at += columns) {
    for (std::size_t i = 0; i < columns; ++i) {
      const Escaped& cell = cells[at + i];
      out += "| ";
      if (right(i)) out.append(widths[i] - cell.width, ' ');
      out += cell.text;
      if (!right(i)) out.append(widths[i] - cell.width, ' ');
      out += ' ';
    }
    out += "|\n";
    if (at != 0) continue;
    for (std::size_t i = 0; i < columns; ++i) {
      out.append("| ").append(widths[i] - 1, '-').append(right(i) ? ": " : "- ");
    }
    out += "|\n";
  }
  return out;
}

}  // namespace bk::report
