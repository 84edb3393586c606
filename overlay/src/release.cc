#include "release.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/sha256.h"

namespace bk::overlay {
namespace {

struct Closer {
  void operator()(archive* writer) const { archive_write_free(writer); }
};

la_ssize_t append(archive* /*writer*/, void* out, const void* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

using Files = std::map<std::string, std::string>;

Status add_file(archive* writer, const std::string& name, const std::string& bytes, std::int64_t wall_s) {
  std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), wall_s, 0);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  const bool ok = archive_write_header(writer, entry.get()) == ARCHIVE_OK &&
                  archive_write_data(writer, bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size());
  return ok ? Status{} : Status(fail(Errc::kInternal, "cannot be packed", name));
}

Result<std::string> pack(const Files& files, std::int64_t wall_s) {
  std::string out;
  const std::unique_ptr<archive, Closer> writer(archive_write_new());
  archive_write_set_format_ustar(writer.get());
  if (archive_write_open(writer.get(), &out, nullptr, append, nullptr) != ARCHIVE_OK) {
    return fail(Errc::kInternal, "the archive library refused to start");
  }
  for (const auto& [name, bytes] : files) BK_TRY(add_file(writer.get(), name, bytes, wall_s));
  if (archive_write_close(writer.get()) != ARCHIVE_OK) {
    return fail(Errc::kInternal, "the archive library could not finish");
  }
  return out;
}

}  // namespace

Result<Release> make_release(const manifest::Composition& composition, const std::string& commit, std::int64_t wall_s) {
  Release release;
  release.commit = commit;
  Files files;
  files["manifest.tsv"] = fmt::format("# commit {}\n{}", commit, composition.manifest_text());
  for (const manifest::ComposedFile& file : composition.files) files[file.name] = file.bytes;
  for (const auto& [name, bytes] : files) release.hash_text += fmt::format("{}  {}\n", sha256_hex(bytes), name);
  release.id = sha256_hex(release.hash_text);
  files["SHA256SUMS"] = release.hash_text;
  release.files = files.size();
  BK_ASSIGN(release.tar, pack(files, wall_s));
  return release;
}

}  // namespace bk::overlay
