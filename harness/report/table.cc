#include "report/table.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bk::report {
namespace {

struct Range {
  std::uint32_t first, last;
};

/// Wide and full-width blocks after Unicode's EastAsianWidth.txt (W and F), joined where nothing narrow lies between.
constexpr std::array kWide = {
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x2329, 0x232a},   Range{0x23e9, 0x23ec},
    Range{0x2e80, 0x303e},   Range{0x3041, 0x33ff},   Range{0x3400, 0x4dbf},   Range{0x4e00, 0xa4cf},
    Range{0xa960, 0xa97f},   Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},   Range{0xfe10, 0xfe19},
    Range{0xfe30, 0xfe6f},   Range{0xff01, 0xff60},   Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f},
    Range{0x1f680, 0x1f6ff}, Range{0x1f900, 0x1f9ff}, Range{0x20000, 0x3fffd},
};
/// Combining marks, conjoining vowels and finals of Hangul, joiners and variation selectors.
constexpr std::array kZero = {
    Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x0591, 0x05bd}, Range{0x064b, 0x065f}, Range{0x1160, 0x11ff},
    Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff}, Range{0x200b, 0x200f}, Range{0x202a, 0x202e}, Range{0x2060, 0x2064},
    Range{0x20d0, 0x20ff}, Range{0xd7b0, 0xd7ff}, Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}, Range{0xfeff, 0xfeff},
};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, std::uint32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return c >= r.first && c <= r.last; });
}

/// The next code point; a byte that belongs to none counts as U+FFFD.
std::uint32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  std::uint32_t value = length == 1 ? lead : length == 0 ? 0 : lead & (0xffU >> (length + 1));
  bool whole = length != 0 && length <= text.size();
  for (std::size_t i = 1; whole && i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    whole = (next & 0xc0) == 0x80;
    value = (value << 6) | (next & 0x3fU);
  }
  text.remove_prefix(whole ? length : 1);
  return whole ? value : 0xfffd;
}

std::size_t columns_of(std::uint32_t c) {
  if (c >= 0x20 && c < 0x7f) return 1;
  if (c < 0x20 || (c >= 0x7f && c < 0xa0) || within(kZero, c)) return 0;
  return within(kWide, c) ? 2 : 1;
}

void end_line(std::string& out) {
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

std::size_t display_width(std::string_view utf8) {
  // Nearly every cell is plain: one column a byte.
  const auto plain = std::find_if(utf8.begin(), utf8.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  auto width = static_cast<std::size_t>(plain - utf8.begin());
  utf8.remove_prefix(width);
  while (!utf8.empty()) width += columns_of(take_code_point(utf8));
  return width;
}

std::string_view clip(std::string_view utf8, std::size_t width) {
  std::string_view rest = utf8;
  std::size_t used = 0;
  while (!rest.empty()) {
    std::string_view after = rest;
    used += columns_of(take_code_point(after));
    if (used > width) break;
    rest = after;
  }
  return utf8.substr(0, utf8.size() - rest.size());
}

std::string pad(std::string_view utf8, std::size_t width, Align align) {
  const std::size_t have = display_width(utf8);
  const std::string blanks(have < width ? width - have : 0, ' ');
  return align == Align::kLeft ? std::string(utf8) + blanks : blanks + std::string(utf8);
}

std::string table(const std::vector<std::string>& header, const std::vector<Align>& align,
                  const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  widths.reserve(header.size());
  for (const std::string& name : header) widths.push_back(display_width(one_line(name)));
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < widths.size() && i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(one_line(row[i])));
    }
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const Align side = i < align.size() ? align[i] : Align::kLeft;
      out += (i == 0 ? "" : "  ") + pad(i < cells.size() ? one_line(cells[i]) : "", widths[i], side);
    }
    end_line(out);
  };
  line(header);
  for (std::size_t i = 0; i < widths.size(); ++i) out += (i == 0 ? "" : "  ") + std::string(widths[i], '-');
  out += '\n';
  for (const auto& row : rows) line(row);
  return out;
}

}  // namespace bk::report
