#include "ledger/check.h"

#include <algorithm>

#include "base/text.h"

namespace bk::ledger {
namespace {

constexpr std::size_t kShown = 60;  // bytes of a line that an error quotes

/// The text around byte `at`, cut at character borders.
std::string excerpt(std::string_view line, std::size_t at) {
  std::size_t begin = at > kShown / 2 ? at - kShown / 2 : 0;
  const auto inside = [&](std::size_t i) {
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;
  };
  while (inside(begin)) ++begin;
  std::size_t end = std::min(line.size(), begin + kShown);
  while (end > begin && inside(end)) --end;
  return (begin > 0 ? "'…" : "'") + std::string(line.substr(begin, end - begin)) + (end < line.size() ? "…'" : "'");
}

}  // namespace

Status check_rendering(std::string_view file, std::string_view rendering, const std::string& path) {
  if (file == rendering) return {};
  const std::vector<std::string_view> have = split_lines(file);
  const std::vector<std::string_view> want = split_lines(rendering);
  std::size_t i = 0;
  while (i < have.size() && i < want.size() && have[i] == want[i]) ++i;
  const std::string where = path + ":" + std::to_string(i + 1);
  if (i < have.size() && i < want.size()) {
    const auto [a, b] = std::mismatch(have[i].begin(), have[i].end(), want[i].begin(), want[i].end());
    const auto at = static_cast<std::size_t>(a - have[i].begin());
    return fail(
        Errc::kMismatch,
        "the file says " + excerpt(have[i], at) + ", the database " + excerpt(want[i], at) + "; run `ledger render`",
        where);
  }
  if (i < want.size()) {
    return fail(Errc::kMismatch, "the file ends before " + excerpt(want[i], 0) + "; run `ledger render`", where);
  }
  if (i < have.size()) {
    return fail(Errc::kMismatch, "the database has no " + excerpt(have[i], 0) + "; run `ledger render`", where);
  }
  return fail(Errc::kMismatch, "the line ends differ; run `ledger render`", path);
}

}  // namespace bk::ledger
