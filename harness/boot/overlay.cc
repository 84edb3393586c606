#include "boot/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/text.h"
#include "boot/namespace.h"
#include "boot/words.h"
#include "manifest/directory_tree.h"
#include "manifest/verify.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;
using manifest::DirectoryTree;

constexpr const char* kTree = "tree";
constexpr const char* kTargets = "targets";

std::vector<std::string> folders_in(const fs::path& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status check_module_folder(const Profile& profile, const std::string& name, const fs::path& modules_dir) {
  const auto there = folders_in(modules_dir);
  if (std::find(there.begin(), there.end(), name) != there.end()) return {};
  const auto near = nearest(name, there);
  const std::string hint = near            ? "; did you mean " + *near + "?"
                           : there.empty() ? "; none lies there"
                                           : "; there are " + join(there, ", ");
  return fail(Errc::kUsage, fmt::format("MODULES of {} names {}, which is no module{}", profile.name, name, hint),
              modules_dir.string());
}

Json facts_of(const manifest::Composition& composition) {
  Json facts = Json::object();
  facts.set("modules", Json(composition.modules)).set("digest", composition.digest());
  facts.set("rows", composition.rows.size()).set("files", composition.files.size());
  return facts;
}

}  // namespace

fs::path package_of(const Profile& profile, const fs::path& root_dir) {
  const auto filled = fill(profile.target_prefix, [&](const std::string& name) -> std::optional<std::string> {
    if (name == "ROOT") return root_dir.string();
    return {};
  });
  return filled.value_or("");
}

Result<manifest::Composition> compose_profile(const Profile& profile, const fs::path& root_dir,
                                              const fs::path& modules_dir) {
  std::vector<DirectoryTree> folders;
  for (const std::string& name : profile.modules) {
    BK_TRY(check_module_folder(profile, name, modules_dir));
    folders.emplace_back(modules_dir / name);
  }
  std::vector<manifest::Module> modules;
  for (std::size_t i = 0; i < folders.size(); ++i) modules.push_back({profile.modules[i], &folders[i]});
  return manifest::compose(profile.name, package_of(profile, root_dir).string(), modules);
}

Status lay_out(const manifest::Composition& composition, const fs::path& dir) {
  std::string targets;
  BK_TRY(make_directories(dir / kTree));
  for (const manifest::ComposedFile& file : composition.files) {
    const fs::path path = dir / kTree / file.target;
    BK_TRY(make_directories(path.parent_path()));
    BK_TRY(write_file_atomic(path, file.bytes));
    std::error_code error;
    fs::permissions(path, fs::perms(0644), error);
    if (error) return fail(Errc::kIo, error.message(), path.string());
    targets += fmt::format("{}  {}\n", file.sha256, file.target);
  }
  return write_file_atomic(dir / kTargets, targets);
}

Result<std::string> enter_laid_out(const fs::path& dir, const fs::path& package) {
  BK_ASSIGN(const std::string targets, read_file(dir / kTargets));
  BK_TRY(enter_overlay(dir / kTree, package));
  const DirectoryTree mounted(package);
  std::size_t files = 0;
  for (const std::string_view line : split_lines(targets)) {
    const std::size_t gap = line.find("  ");
    if (gap == std::string_view::npos) return fail(Errc::kParse, "no hash and path", (dir / kTargets).string());
    const std::string target(line.substr(gap + 2));
    BK_ASSIGN(const std::string seen, mounted.sha256(target));
    if (seen != line.substr(0, gap)) {
      return fail(Errc::kMismatch, fmt::format("read through the mount, {} has SHA-256 {}", target, seen),
                  package.string());
    }
    ++files;
  }
  return fmt::format("overlay: {} files lie read-only over {}", files, package.string());
}

Result<StagedOverlay> stage_overlay(const Profile& profile, const fs::path& root_dir, const fs::path& bin_dir) {
  StagedOverlay staged;
  if (profile.modules.empty()) return staged;
  BK_ASSIGN(const auto composition, compose_profile(profile, root_dir, root_dir / "overlay/modules"));
  const DirectoryTree package(composition.root);
  std::error_code error;
  if (!fs::is_directory(package.root(), error)) {
    const std::string next = profile.install.empty() ? "" : "; " + profile.install;
    return fail(Errc::kEnvironment, "the package that the modules are made for is not there" + next, composition.root);
  }
  BK_ASSIGN(const auto problems, manifest::verify(composition.rows, package));
  BK_TRY(manifest::as_status(problems, package));
  staged.dir = std::make_unique<TempDir>();
  BK_TRY(lay_out(composition, staged.dir->path()));
  staged.enter = {(bin_dir / "overlay").string(),
                  "enter",
                  "--laid-out",
                  staged.dir->path().string(),
                  "--package",
                  composition.root,
                  "--"};
  staged.facts = facts_of(composition);
  return staged;
}

}  // namespace bk::boot
