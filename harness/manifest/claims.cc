#include "manifest/claims.h"

#include <fmt/format.h>

#include "base/text.h"

namespace bk::manifest {
namespace {

std::string claimant(const std::string& owner, const Row& row) {
  return owner.empty() ? fmt::format("row {}", row.line) : fmt::format("module {} (row {})", owner, row.line);
}

tl::unexpected<Error> clash(std::string what) { return fail(Errc::kUsage, std::move(what)); }

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

Status Claims::add(const std::string& owner, const Row& row) {
  if (!row.mounts()) return add_pin(owner, row);
  BK_TRY(add_source(owner, row));
  BK_TRY(add_target(owner, row));
  return check_pins(owner, row);
}

Status Claims::add_source(const std::string& owner, const Row& row) {
  const auto [taken, is_new] = sources_.emplace(to_lower(row.source), Claim{owner, row});
  if (is_new) return {};
  const Claim& first = taken->second;
  const bool same = first.row.source == row.source;
  return clash(fmt::format("source {} of {} {} {} of {}", row.source, claimant(owner, row),
                           same ? "is claimed already: it is the source" : "differs in case alone from",
                           first.row.source, claimant(first.owner, first.row)));
}

Status Claims::add_target(const std::string& owner, const Row& row) {
  const std::string key = to_lower(row.target);
  const auto [taken, is_new] = targets_.emplace(key, Claim{owner, row});
  if (!is_new) {
    const Claim& first = taken->second;
    const bool same = first.row.target == row.target;
    return clash(fmt::format("target {} of {} {} {}", row.target, claimant(owner, row),
                             same ? "is claimed already by" : "differs in case alone from " + first.row.target + " of",
                             claimant(first.owner, first.row)));
  }
  if (const auto below = parent_of_.find(key); below != parent_of_.end()) {
    return clash(fmt::format("target {} of {} is the folder of the target {}: it cannot be a file too", row.target,
                             claimant(owner, row), below->second));
  }
  for (std::string folder = folder_of(key); !folder.empty(); folder = folder_of(folder)) {
    if (const auto file = targets_.find(folder); file != targets_.end()) {
      return clash(fmt::format("target {} of {} lies below {}, a file of {}", row.target, claimant(owner, row),
                               file->second.row.target, claimant(file->second.owner, file->second.row)));
    }
    parent_of_.emplace(folder, row.target);
  }
  return {};
}

Status Claims::add_pin(const std::string& owner, const Row& row) {
  const std::string key = to_lower(row.target);
  const auto [begin, end] = pins_.equal_range(key);
  for (auto pin = begin; pin != end; ++pin) {
    const Claim& first = pin->second;
    if (first.row.target != row.target) {
      return clash(fmt::format("target {} of {} differs in case alone from {} of {}", row.target, claimant(owner, row),
                               first.row.target, claimant(first.owner, first.row)));
    }
    if (first.owner == owner) {
      return clash(fmt::format("target {} of {} is pinned already by {}", row.target, claimant(owner, row),
                               claimant(first.owner, first.row)));
    }
    if (first.row.preimage != row.preimage) {
      return clash(fmt::format("target {} of {} is pinned to other bytes by {}", row.target, claimant(owner, row),
                               claimant(first.owner, first.row)));
    }
  }
  if (const auto mounted = targets_.find(key); mounted != targets_.end()) {
    const Claim& first = mounted->second;
    if (first.owner == owner || !knows_(owner, first.owner)) {
      return clash(fmt::format("{} pins {}, which {} mounts a file over: what it reaches into is not what it pinned{}",
                               claimant(owner, row), row.target, claimant(first.owner, first.row),
                               first.owner == owner ? "" : "; name that module in `requires` when this is meant"));
    }
  }
  pins_.emplace(key, Claim{owner, row});
  return {};
}

Status Claims::check_pins(const std::string& owner, const Row& row) const {
  const auto [begin, end] = pins_.equal_range(to_lower(row.target));
  for (auto pin = begin; pin != end; ++pin) {
    const Claim& first = pin->second;
    if (first.owner != owner && knows_(first.owner, owner)) continue;
    return clash(
        fmt::format("{} mounts a file over {}, which {} pins: what that one reaches into is not what it pinned{}",
                    claimant(owner, row), row.target, claimant(first.owner, first.row),
                    first.owner == owner ? "" : "; name this module in its `requires` when this is meant"));
  }
  return {};
}

}  // namespace bk::manifest
