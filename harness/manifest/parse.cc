#include "manifest/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "manifest/claims.h"
#include "manifest/path.h"

namespace bk::manifest {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::size_t kHexDigits = 64;

std::string place(const std::string& path, int line) { return fmt::format("{}:{}", path, line); }

/// What no text file of this tool may start with or hold.
Status check_bytes(std::string_view text, const std::string& path) {
  if (text.starts_with(kBom)) {
    return fail(Errc::kUsage, "the file starts with a byte order mark (BOM): save it as UTF-8 without one",
                place(path, 1));
  }
  const auto bad = std::find_if(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\0'; });
  if (bad == text.end()) return {};
  const auto row = static_cast<int>(std::count(text.begin(), bad, '\n')) + 1;
  if (*bad == '\0') return fail(Errc::kUsage, "the file holds a NUL byte: it is no text", place(path, row));
  return fail(
      Errc::kUsage,
      "the line holds a carriage return (CR): the file has CRLF line ends; convert it to LF (was it checked out "
      "with autocrlf?)",
      place(path, row));
}

bool is_lower_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Empty for "absent", else the digits.
Result<std::string> read_contract(std::string_view contract) {
  if (contract == "absent") return std::string();
  const std::string shown = printable(contract);
  if (std::all_of(contract.begin(), contract.end(), is_lower_hex)) {
    if (contract.size() == kHexDigits) return std::string(contract);
    return fail(Errc::kUsage,
                fmt::format("contract '{}' has {} hex digits, a SHA-256 has {}", shown, contract.size(), kHexDigits));
  }
  const std::string lower = to_lower(contract);
  if (lower == "absent" || std::all_of(lower.begin(), lower.end(), is_lower_hex)) {
    return fail(Errc::kUsage, fmt::format("contract '{}' has upper-case letters: write it in lower case", shown));
  }
  return fail(Errc::kUsage,
              fmt::format("contract '{}' is neither {} lower-case hex digits nor the word absent", shown, kHexDigits));
}

Result<Row> read_row(std::string_view line, std::string_view root) {
  const auto fields = split(line, '\t');
  if (fields.size() == 1) {
    return fail(Errc::kUsage, fmt::format("no tab in '{}': a row is source TAB target TAB contract, blanks do not "
                                          "separate",
                                          printable(line)));
  }
  if (fields.size() != 3) {
    return fail(Errc::kUsage,
                fmt::format("{} fields between tabs, a row has 3 (source, target, contract)", fields.size()));
  }
  Row row;
  BK_ASSIGN(row.target, below_root(fields[1], root));
  BK_ASSIGN(row.preimage, read_contract(fields[2]));
  if (fields[0] == "-") {
    if (row.preimage.empty()) {
      return fail(Errc::kUsage, "a verify-only row (source '-') pins a file by its SHA-256; absent pins nothing");
    }
    row.kind = RowKind::kVerify;
    return row;
  }
  if (const auto fault = source_fault(fields[0])) {
    return fail(Errc::kUsage, fmt::format("source '{}': {}", printable(fields[0]), *fault));
  }
  row.source = fields[0];
  row.kind = row.preimage.empty() ? RowKind::kAdd : RowKind::kReplace;
  return row;
}

}  // namespace

Result<std::vector<Row>> parse_manifest(std::string_view text, const std::string& path, std::string_view root) {
  BK_TRY(check_bytes(text, path));
  std::vector<Row> rows;
  Claims claims([](const std::string&, const std::string&) { return false; });
  int line_number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    auto row = read_row(line, root);
    if (!row) return fail(row.error().code, row.error().what, place(path, line_number));
    row->line = line_number;
    if (const auto claimed = claims.add("", *row); !claimed) {
      return fail(claimed.error().code, claimed.error().what, place(path, line_number));
    }
    rows.push_back(std::move(*row));
  }
  if (rows.empty()) return fail(Errc::kUsage, "the manifest has no row", path);
  return rows;
}

Result<std::vector<std::string>> parse_requires(std::string_view text, const std::string& path) {
  BK_TRY(check_bytes(text, path));
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  int line_number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    if (const auto fault = module_name_fault(line)) {
      return fail(Errc::kUsage, fmt::format("module name '{}': {}", printable(line), *fault), place(path, line_number));
    }
    if (!seen.insert(line).second) {
      return fail(Errc::kUsage, fmt::format("module {} is named twice", line), place(path, line_number));
    }
    names.emplace_back(line);
  }
  return names;
}

}  // namespace bk::manifest
