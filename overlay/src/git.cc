#include "git.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/process.h"
#include "base/text.h"
#include "manifest/path.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;

Result<Captured> git(const fs::path& checkout, std::vector<std::string> args) {
  args.insert(args.begin(), {"git", "-C", checkout.string()});
  return run_captured({std::move(args), {{"LC_ALL", "C"}, {"GIT_OPTIONAL_LOCKS", "0"}}, "", ""}, 60 * kSecond);
}

std::string first_line(const std::string& text) {
  const auto lines = split_lines(text);
  return lines.empty() ? std::string() : manifest::printable(lines.front());
}

/// Whether `older` is an ancestor of `newer`.
Result<bool> holds(const fs::path& checkout, const std::string& newer, const std::string& older) {
  BK_ASSIGN(const Captured ran, git(checkout, {"merge-base", "--is-ancestor", older, newer}));
  if (ran.exit.code <= 1) return ran.exit.code == 0;
  return fail(Errc::kEnvironment, "git cannot compare commits: " + first_line(ran.err), checkout.string());
}

}  // namespace

Result<std::string> clean_commit(const fs::path& checkout) {
  BK_ASSIGN(const Captured head, git(checkout, {"rev-parse", "--verify", "HEAD^{commit}"}));
  if (!head.exit.ok()) {
    return fail(Errc::kUsage, "a deploy needs a git checkout with a commit: " + first_line(head.err),
                checkout.string());
  }
  BK_ASSIGN(const Captured dirt, git(checkout, {"status", "--porcelain", "--untracked-files=normal"}));
  if (!dirt.exit.ok()) return fail(Errc::kEnvironment, "git status: " + first_line(dirt.err), checkout.string());
  if (!trim(dirt.out).empty()) {
    const auto changed = split_lines(dirt.out);
    return fail(Errc::kRefused,
                fmt::format("the tree is dirty, {} changed ({} in all): commit or stash, so that a commit names what "
                            "is deployed",
                            manifest::printable(trim(changed.front().substr(3))), changed.size()),
                checkout.string());
  }
  return std::string(trim(head.out));
}

Status check_committed(const fs::path& checkout, const fs::path& folder, const std::vector<std::string>& names) {
  constexpr const char* kWhy = ", so that a commit names what is deployed";
  BK_ASSIGN(const Captured top, git(checkout, {"rev-parse", "--show-toplevel"}));
  BK_ASSIGN(const Captured same, git(folder, {"rev-parse", "--show-toplevel"}));
  if (!same.exit.ok() || same.out != top.out) {
    return fail(Errc::kRefused,
                fmt::format("it lies outside of the checkout {}: move it there{}", checkout.string(), kWhy),
                folder.string());
  }
  // "H" is a file that git compares with its index; the tree is clean, so the index is HEAD.
  BK_ASSIGN(const Captured listed, git(folder, {"ls-files", "-v", "-z"}));
  if (!listed.exit.ok()) return fail(Errc::kEnvironment, "git ls-files: " + first_line(listed.err), folder.string());
  std::set<std::string_view> held;
  for (const std::string_view entry : split(listed.out, '\0')) {
    if (entry.starts_with("H ")) held.insert(entry.substr(2));
  }
  for (const std::string& name : names) {
    if (held.contains(name)) continue;
    return fail(
        Errc::kRefused,
        fmt::format("git ignores {}, or is told not to look at it: commit it{}", manifest::printable(name), kWhy),
        folder.string());
  }
  return {};
}

Result<Lineage> lineage_of(const fs::path& checkout, const std::string& commit) {
  const bool hex = commit.size() >= 40 && std::all_of(commit.begin(), commit.end(), [](char c) {
                     return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                   });
  if (!hex) return Lineage::kUnknown;
  BK_ASSIGN(const Captured head, git(checkout, {"rev-parse", "HEAD"}));
  if (trim(head.out) == commit) return Lineage::kSame;
  BK_ASSIGN(const Captured known, git(checkout, {"cat-file", "-e", commit + "^{commit}"}));
  if (!known.exit.ok()) return Lineage::kUnknown;
  BK_ASSIGN(const bool ancestor, holds(checkout, "HEAD", commit));
  if (ancestor) return Lineage::kAncestor;
  BK_ASSIGN(const bool newer, holds(checkout, commit, "HEAD"));
  return newer ? Lineage::kNewer : Lineage::kApart;
}

}  // namespace bk::overlay
