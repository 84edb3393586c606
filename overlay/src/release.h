#pragma once
#include <string>

#include "base/result.h"
#include "manifest/compose.h"

namespace bk::overlay {

/// What a deploy puts on every node: a flat folder whose name is the hash of its contents.
struct Release {
  std::string id;         ///< SHA-256 of hash_text
  std::string commit;     ///< of the checkout that it was composed from; also a comment in its manifest
  std::string hash_text;  ///< `sha256sum` text of every file but SHA256SUMS, by name: what all nodes must print
  std::string tar;        ///< ustar of the files
  std::size_t files = 0;  ///< in the tar
};

/// Packs a composition. `wall_s` becomes the files' time, seconds since the epoch. kInternal when the archive library
/// fails.
[[nodiscard]] Result<Release> make_release(const manifest::Composition& composition, const std::string& commit,
                                           std::int64_t wall_s);

}  // namespace bk::overlay
