#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace bk::overlay {

/// The commit of a checkout whose working tree is clean: what is deployed can be named by it. kUsage when the folder is
/// no checkout, kRefused (with the first changed file) when it is dirty, kEnvironment when git is missing.
[[nodiscard]] Result<std::string> clean_commit(const std::filesystem::path& checkout);

/// Whether HEAD of the checkout holds each of these files of a folder: one that git ignores, or is told not to look at,
/// leaves a tree clean whatever it holds. kRefused naming the first that it does not hold, or a folder elsewhere.
[[nodiscard]] Status check_committed(const std::filesystem::path& checkout, const std::filesystem::path& folder,
                                     const std::vector<std::string>& names);

/// How a commit lies to the checkout's HEAD.
enum class Lineage {
  kSame,      ///< it is HEAD
  kAncestor,  ///< HEAD holds it
  kNewer,     ///< it holds HEAD: HEAD is older
  kApart,     ///< neither holds the other
  kUnknown,   ///< the checkout has no such commit
};
[[nodiscard]] Result<Lineage> lineage_of(const std::filesystem::path& checkout, const std::string& commit);

}  // namespace bk::overlay
