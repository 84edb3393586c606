#include "build_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/file.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the object unless it was renamed away.
struct Scratch {
  fs::path path;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

Status write_file(const fs::path& path, const std::string& bytes) {
  BK_TRY(write_file_atomic(path, bytes));
  std::error_code error;
  fs::permissions(path, fs::perms(0644), error);
  return error ? Status(fail(Errc::kIo, error.message(), path.string())) : Status{};
}

/// Only a composed folder may be replaced.
Status check_replaceable(const fs::path& target) {
  std::error_code error;
  const auto type = fs::symlink_status(target, error).type();
  if (type == fs::file_type::not_found) return {};
  if (type == fs::file_type::directory && fs::exists(target / "SHA256SUMS", error)) return {};
  return fail(Errc::kRefused, "what lies there was not composed by this program: move it away", target.string());
}

Status put_in_place(const fs::path& fresh, const fs::path& target) {
  std::error_code error;
  const bool replaces = fs::exists(target, error);
  // With an old folder the two names are exchanged in one step; the old files then go with the scratch folder.
  const int done = renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), replaces ? RENAME_EXCHANGE : 0);
  if (done == 0) return {};
  return fail(Errc::kIo, fmt::format("cannot be put in place: {}", std::strerror(errno)), target.string());
}

}  // namespace

Result<fs::path> write_composed(const manifest::Composition& composition, const fs::path& build_dir) {
  const fs::path target = build_dir / composition.profile;
  BK_TRY(check_replaceable(target));
  const Scratch scratch{build_dir / fmt::format(".{}.{}", composition.profile, getpid())};
  BK_TRY(make_directories(scratch.path));
  for (const manifest::ComposedFile& file : composition.files) BK_TRY(write_file(scratch.path / file.name, file.bytes));
  BK_TRY(write_file(scratch.path / "manifest.tsv", composition.manifest_text()));
  BK_TRY(write_file(scratch.path / "SHA256SUMS", composition.hash_list()));
  BK_TRY(put_in_place(scratch.path, target));
  return target;
}

}  // namespace bk::overlay
