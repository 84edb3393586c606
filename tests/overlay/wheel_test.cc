#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>
#include <cstdlib>

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

/// A real release: set BK_VLLM_WHEEL to the file vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl of the package index.
TEST_CASE("pins are checked against a real vLLM wheel of 438 MB, which is not unpacked", "[.wheel]") {
  const char* wheel = std::getenv("BK_VLLM_WHEEL");
  if (wheel == nullptr || !std::filesystem::exists(wheel)) {
    std::puts("skipped: the vLLM wheel: BK_VLLM_WHEEL names no file");
    return;
  }
  const LaneFixture lane;
  lane.write(
      "profiles/p.env",
      "COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX=/opt/venv/lib/python3.12/site-packages/vllm\nMODULES=probe\n");
  const std::string rows =
      "-\tv1/sample/rejection_sampler.py\t56e829ec3ced510804e8d68b3f86f59dbc616d8aff48544e6ecc39833cbdac8c\n"
      "-\tv1/core/sched/scheduler.py\t357ac414a5b5da8c3423984dd1fdde860584a0d417c30ac2ee25874ea9e5a04c\n"
      "-\tv1/worker/gpu_model_runner.py\tea6b7bfe4082349e80042df4801c7ef9e18c80d1c3879eeb6ac6e9c476303574\n";
  lane.write("overlay/modules/probe/probe.py", "x = 1\n");
  lane.write("overlay/modules/probe/manifest.tsv", rows + "probe.py\tbracketkit_probe.py\tabsent\n");
  const auto before = files_below(lane.root);
  const Ran fits = overlay_program({"verify", lane.profile(), "--wheel", wheel});
  CAPTURE(fits.out, fits.err);
  CHECK(fits.code == 0);
  CHECK(fits.out.ends_with(" fits: 4 rows of 1 modules\n"));
  CHECK(files_below(lane.root) == before);
  lane.write("overlay/modules/probe/manifest.tsv",
             rows + "probe.py\tversion.py\tabsent\n-\tenvs.py\t" + sha256_hex("other\n") + "\n");
  const Ran drifted = overlay_program({"verify", lane.profile(), "--wheel", wheel});
  CHECK(drifted.code == 1);
  CHECK(drifted.out.find("row 4: version.py: must be absent, but a file is there") != std::string::npos);
  CHECK(drifted.out.find("row 5: envs.py: SHA-256 is ") != std::string::npos);
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
  // Cut anywhere, and a wheel whose index is damaged: each is refused.
  for (std::size_t length = 1; length < whole.size(); length += 1 + whole.size() / 40) {
    REQUIRE(write_file_atomic(wheel, whole.substr(0, length)));
    refuse("bad.whl");
  }
  for (const char* mark : {"PK\x01\x02", "PK\x05\x06"}) {
    std::string broken = whole;
    for (std::size_t at = broken.find(mark); at != std::string::npos; at = broken.find(mark, at)) broken[at] = 'X';
    REQUIRE(write_file_atomic(wheel, broken));
    refuse("bad.whl");
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
