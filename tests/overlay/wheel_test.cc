#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>

#include "lane_fixture.h"
#include "wheel_tree.h"

namespace bk::overlay {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

/// A zip with these entries; a text "-> x" is a symbolic link to x.
std::string write_wheel(const std::filesystem::path& path, const Entries& entries) {
  archive* out = archive_write_new();
  archive_write_set_format_zip(out);
  archive_write_zip_set_compression_store(out);
  REQUIRE(archive_write_open_filename(out, path.c_str()) == ARCHIVE_OK);
  for (const auto& [name, bytes] : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    const bool link = bytes.starts_with("-> ");
    archive_entry_set_filetype(entry, link ? AE_IFLNK : AE_IFREG);
    if (link) archive_entry_set_symlink(entry, bytes.c_str() + 3);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, link ? 0 : static_cast<la_int64_t>(bytes.size()));
    REQUIRE(archive_write_header(out, entry) == ARCHIVE_OK);
    if (!link) REQUIRE(archive_write_data(out, bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size()));
    archive_entry_free(entry);
  }
  REQUIRE(archive_write_close(out) == ARCHIVE_OK);
  archive_write_free(out);
  return path.string();
}

TEST_CASE("pins are checked against a wheel, which is not unpacked") {
  const LaneFixture lane;
  const std::string wheel = (lane.root / "pkg.whl").string();
  write_wheel(wheel, {{"pkg/a.py", lane.old_text}, {"pkg/b.py", "b\n"}, {"pkg-1.dist-info/RECORD", ""}});
  const Ran fits = overlay_program({"verify", lane.profile(), "--wheel", wheel});
  CHECK(fits.err.empty());
  CHECK(fits.code == 0);
  CHECK(fits.out == "the wheel pkg.whl fits: 3 rows of 2 modules\n");
  struct Misfit {
    Entries entries;
    const char* said;
  };
  const Misfit kMisfits[] = {
      {{{"pkg/a.py", lane.old_text}, {"pkg/b.py", "c\n"}}, "module one, row 2: pkg/b.py: SHA-256 is"},
      {{{"pkg/a.py", lane.old_text}}, "module one, row 2: pkg/b.py: is pinned, but no such file is there"},
      {{{"pkg/a.py", lane.old_text}, {"pkg/b.py", "-> a.py"}}, "pkg/b.py: must be a regular file, but a symbolic link"},
      {{{"pkg/a.py", lane.old_text}, {"pkg/b.py", "b\n"}, {"pkg/sub/new.py", "x"}},
       "module two, row 1: pkg/sub/new.py: must be absent, but a file is there"},
      {{{"pkg/a.py", lane.old_text}, {"pkg/b.py", "b\n"}, {"pkg/sub", "x"}},
       "module two, row 1: pkg/sub/new.py: its folder pkg/sub is a file"},
  };
  for (const Misfit& misfit : kMisfits) {
    write_wheel(wheel, misfit.entries);
    const Ran ran = overlay_program({"verify", lane.profile(), "--wheel", wheel});
    CAPTURE(misfit.said, ran.out, ran.err);
    CHECK(ran.code == 1);
    CHECK(ran.out.find(misfit.said) != std::string::npos);
  }
}

TEST_CASE("hostile and damaged wheels are refused in one line, and nothing is written") {
  const LaneFixture lane;
  const auto before = files_below(lane.root);
  const TempDir elsewhere;
  const std::string wheel = (elsewhere.path() / "bad.whl").string();
  const auto refuse = [&](const std::string& said) {
    const Ran ran = overlay_program({"verify", lane.profile(), "--wheel", wheel});
    CAPTURE(said, ran.out, ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(said) != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(files_below(lane.root) == before);
  };
  refuse("cannot be read as a wheel");
  const Entries good = {{"pkg/a.py", lane.old_text}, {"pkg/b.py", "b\n"}};
  for (const char* name :
       {"../evil.py", "pkg/../../evil.py", "/etc/evil.py", "pkg//a.py", "./pkg/a.py", "pkg/./a.py", "pkg\\a.py"}) {
    Entries entries = good;
    entries.emplace_back(name, "x");
    write_wheel(wheel, entries);
    refuse("bad.whl");
  }
  write_wheel(wheel, {good[0], good[1], good[0]});
  refuse("holds pkg/a.py twice");
  for (const std::string& bytes : {std::string(), std::string("not a zip"), std::string(1000, '\0')}) {
    REQUIRE(write_file_atomic(wheel, bytes));
    refuse("cannot be read as a wheel");
  }
  write_wheel(wheel, good);
  const std::string whole = read_file(wheel).value();
  for (const std::size_t length : {std::size_t{10}, whole.size() / 2, whole.size() - 5}) {
    REQUIRE(write_file_atomic(wheel, whole.substr(0, length)));
    refuse("cannot be read as a wheel");
  }
  // One byte of the stored data differs from the checksum that the wheel carries.
  std::string flipped = whole;
  const std::size_t data = flipped.find(lane.old_text);
  REQUIRE(data != std::string::npos);
  flipped[data] = 'X';
  REQUIRE(write_file_atomic(wheel, flipped));
  refuse("damaged");
}

}  // namespace
}  // namespace bk::overlay
