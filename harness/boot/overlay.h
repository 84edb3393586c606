#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "boot/profile.h"
#include "manifest/compose.h"

namespace bk::boot {

/// The package root that the profile's modules are meant for, {ROOT} filled. Empty when the profile has none.
[[nodiscard]] std::filesystem::path package_of(const Profile& profile, const std::filesystem::path& root_dir);

/// Composes the profile's modules, found in `modules_dir`. Errors: manifest::compose()'s, and kUsage with the modules
/// that exist when one is missing.
[[nodiscard]] Result<manifest::Composition> compose_profile(const Profile& profile,
                                                            const std::filesystem::path& root_dir,
                                                            const std::filesystem::path& modules_dir);

/// Lays the composed files out as they are to be seen below the package root, under `dir`/tree, and what each must hash
/// to in `dir`/targets (`sha256sum` text). kIo.
[[nodiscard]] Status lay_out(const manifest::Composition& composition, const std::filesystem::path& dir);

/// Mounts what lay_out() made at `dir` over the package, for this process and its children (see enter_overlay()), and
/// reads every file back through the mount. Gives one line that says what lies there. kMismatch when a file reads
/// differently.
[[nodiscard]] Result<std::string> enter_laid_out(const std::filesystem::path& dir,
                                                 const std::filesystem::path& package);

/// What one boot mounts. It has to outlive the engine.
struct StagedOverlay {
  std::unique_ptr<TempDir> dir;    ///< the laid out files; none when the profile has no modules
  std::vector<std::string> enter;  ///< words to put before the engine's command; empty when there is nothing to mount
  Json facts;                      ///< modules, digest and package, for the boot's fingerprint; null when none
};

/// The whole preflight of a profile's overlay: composes the modules of <root_dir>/overlay/modules, verifies every row
/// against the package as it lies on disk, and lays the files out. Nothing is mounted here, nothing is stopped.
/// kMismatch when the package is not the one that the modules were made for; kEnvironment when it is not there.
[[nodiscard]] Result<StagedOverlay> stage_overlay(const Profile& profile, const std::filesystem::path& root_dir,
                                                  const std::filesystem::path& bin_dir);

}  // namespace bk::boot
