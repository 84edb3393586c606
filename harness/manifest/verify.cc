#include "manifest/verify.h"

#include <fmt/format.h>

#include <optional>

#include "base/sha256.h"

namespace bk::manifest {
namespace {

/// Files above this are compared by hash alone: no text file of a package is as large.
constexpr std::size_t kLargestText = 16U << 20U;

std::string to_lf(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i];
  }
  return out;
}

std::string to_crlf(std::string_view lf) {
  std::string out;
  out.reserve(lf.size() + lf.size() / 16);
  for (const char c : lf) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

/// Whether line ends alone make the difference, in words; empty when not.
std::string line_end_hint(const Tree& package, const Row& row) {
  const auto bytes = package.read(row.target);
  if (!bytes || bytes->size() > kLargestText) return {};
  const std::string lf = to_lf(*bytes);
  if (sha256_hex(lf) == row.preimage) {
    return "; its LF form would match: the file there has CRLF line ends (a checkout with autocrlf?)";
  }
  if (sha256_hex(to_crlf(lf)) == row.preimage) {
    return "; its CRLF form would match: the pin was taken from a copy with CRLF line ends";
  }
  return {};
}

const char* kind_text(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAbsent:
      return "nothing";
    case NodeKind::kFile:
      return "a file";
    case NodeKind::kDirectory:
      return "a folder";
    case NodeKind::kSymlink:
      return "a symbolic link";
    case NodeKind::kOther:
      return "a special file";
  }
  return "something";
}

using Found = std::optional<std::pair<Mismatch, std::string>>;

Result<Found> check_add(const Row& row, const Node& node) {
  if (node.kind == NodeKind::kAbsent) return Found{};
  if (node.at != row.target) {
    return Found{{Mismatch::kNotAFolder, fmt::format("its folder {} is {}", node.at, kind_text(node.kind))}};
  }
  return Found{{Mismatch::kPresent, fmt::format("must be absent, but {} is there", kind_text(node.kind))}};
}

Result<Found> check_pin(const Row& row, const Node& node, const Tree& package) {
  if (node.kind == NodeKind::kAbsent) return Found{{Mismatch::kMissing, "is pinned, but no such file is there"}};
  if (node.at != row.target) {
    return Found{{Mismatch::kNotAFolder, fmt::format("its folder {} is {}", node.at, kind_text(node.kind))}};
  }
  if (node.kind != NodeKind::kFile) {
    return Found{{Mismatch::kNotRegular, fmt::format("must be a regular file, but {} is there", kind_text(node.kind))}};
  }
  BK_ASSIGN(const std::string actual, package.sha256(row.target));
  if (actual == row.preimage) return Found{};
  return Found{{Mismatch::kDiffers,
                fmt::format("SHA-256 is {}, pinned is {}{}", actual, row.preimage, line_end_hint(package, row))}};
}

}  // namespace

const char* to_string(Mismatch reason) {
  switch (reason) {
    case Mismatch::kDiffers:
      return "differs";
    case Mismatch::kMissing:
      return "missing";
    case Mismatch::kPresent:
      return "present";
    case Mismatch::kNotRegular:
      return "not_regular";
    case Mismatch::kNotAFolder:
      return "not_a_folder";
  }
  return "differs";
}

Result<std::vector<Problem>> verify(const std::vector<OwnedRow>& rows, const Tree& package) {
  std::vector<Problem> problems;
  for (const OwnedRow& owned : rows) {
    const Row& row = owned.row;
    BK_ASSIGN(const Node node, package.look(row.target));
    BK_ASSIGN(const Found found, row.kind == RowKind::kAdd ? check_add(row, node) : check_pin(row, node, package));
    if (found) {
      problems.push_back({owned.module, row.line, row.target, found->first, row.target + ": " + found->second});
    }
  }
  return problems;
}

Status as_status(const std::vector<Problem>& problems, const Tree& package) {
  if (problems.empty()) return {};
  const Problem& first = problems.front();
  const std::string others = problems.size() == 1 ? "" : fmt::format("; {} more rows do not fit", problems.size() - 1);
  return fail(Errc::kMismatch, fmt::format("{} does not fit the overlay: {}{}", package.name(), first.text, others),
              fmt::format("module {}, row {}", first.module, first.line));
}

}  // namespace bk::manifest
