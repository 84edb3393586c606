#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"
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

/// A wheel by the variable that names it, else the newest of that name in a folder; none: says so, empty.
std::string real_wheel(const char* variable, const std::filesystem::path& folder, const std::string& prefix) {
  const char* named = std::getenv(variable);
  if (named != nullptr && std::filesystem::exists(named)) return named;
  std::string newest;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".whl")) newest = std::max(newest, entry.path().string());
  }
  if (newest.empty()) std::printf("skipped: no wheel %s* in %s\n", prefix.c_str(), folder.c_str());
  return newest;
}

/// One entry of a wheel, by the archive library.
std::string entry_of(const std::string& wheel, const std::string& suffix) {
  archive* in = archive_read_new();
  archive_read_support_format_zip(in);
  REQUIRE(archive_read_open_filename(in, wheel.c_str(), 1U << 16U) == ARCHIVE_OK);
  archive_entry* entry = nullptr;
  std::string bytes;
  while (bytes.empty() && archive_read_next_header(in, &entry) == ARCHIVE_OK) {
    if (!std::string_view(archive_entry_pathname(entry)).ends_with(suffix)) continue;
    std::array<char, 4096> buffer{};
    for (la_ssize_t got = 0; (got = archive_read_data(in, buffer.data(), buffer.size())) > 0;) {
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  archive_read_free(in);
  return bytes;
}

/// The digest that a wheel's RECORD holds ("sha256=" and base64 with - and _, unpadded), in hex.
std::string hex_of_record(std::string_view text) {
  const std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string hex;
  unsigned int held = 0, bits = 0;
  for (const char c : text) {
    held = (held << 6U | static_cast<unsigned int>(kDigits.find(c))) & 0xffffU;
    for (bits += 6; bits >= 4; bits -= 4) hex += fmt::format("{:x}", held >> (bits - 4) & 0xfU);
  }
  return hex.substr(0, 64);
}

/// A lane without a file to mount, whose rows pin what the wheel's own RECORD says of it.
int pin_record(const LaneFixture& lane, const std::string& wheel, bool drifted) {
  std::string rows;
  int count = 0;
  const std::string record = entry_of(wheel, ".dist-info/RECORD");
  for (const std::string_view line : split_lines(record)) {
    const auto fields = split(line, ',');
    if (fields.size() != 3 || !fields[1].starts_with("sha256=")) continue;
    std::string hash = hex_of_record(fields[1].substr(7));
    if (drifted && count == 7) hash[0] = hash[0] == '0' ? '1' : '0';
    rows += fmt::format("-\t{}\t{}\n", fields[0], hash);
    ++count;
  }
  lane.write("profiles/p.env",
             "COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX=/opt/venv/lib/python3.12/site-packages\nMODULES=all\n");
  lane.write("overlay/modules/all/x.py", "x = 1\n");
  lane.write("overlay/modules/all/manifest.tsv", rows + "x.py\tbracketkit_x.py\tabsent\n");
  return count;
}

TEST_CASE("a real wheel's files are what its RECORD says, all of them, and one other digest is found", "[.wheel]") {
  const std::string wheel = real_wheel("BK_WHEEL", "/usr/share/python-wheels", "pip-");
  if (wheel.empty()) return;
  const LaneFixture lane;
  const int count = pin_record(lane, wheel, false);
  CHECK(count > 300);
  const auto before = files_below(lane.root);
  const Ran fits = overlay_program({"verify", lane.profile(), "--wheel", wheel});
  CAPTURE(fits.out.substr(0, 2000), fits.err);
  CHECK(fits.code == 0);
  CHECK(fits.out.ends_with(fmt::format(" fits: {} rows of 1 modules\n", count + 1)));
  CHECK(files_below(lane.root) == before);
  CHECK(pin_record(lane, wheel, true) == count);
  const Ran drifted = overlay_program({"verify", lane.profile(), "--wheel", wheel});
  CHECK(drifted.code == 1);
  CHECK(drifted.out.starts_with("module all, row 8: "));
  CHECK(drifted.out.ends_with(fmt::format(" does not fit: 1 of {} rows\n", count + 1)));
}

/// The modules for vLLM 0.26.0, as a profile names them.
constexpr const char* kVllmModules =
    "bk-kernels moe-route moe-gate-sm121 tp-oneshot-ar mhc mla-indexer mla-sparse-swa spec-fp8-head markov-topk "
    "prep-fused";

TEST_CASE("the modules for vLLM compose together: no file is claimed twice, and each stands in the list") {
  const LaneFixture lane;
  lane.write("profiles/p.env",
             fmt::format("COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX=/site\nMODULES=\"{}\"\n", kVllmModules));
  const std::string modules = std::string(BK_SOURCE_DIR) + "/overlay/modules";
  const Ran composed =
      overlay_program({"compose", lane.profile(), "--modules-dir", modules, "--build-dir", (lane.root / "b").string()});
  CAPTURE(composed.out, composed.err);
  CHECK(composed.code == 0);
  CHECK(composed.out.find(": 10 modules, 80 rows, 28 files, digest ") != std::string::npos);
  const Ran listed = overlay_program({"list", lane.profile(), "--modules-dir", modules, "--json"});
  CHECK(listed.code == 0);
  for (const std::string_view name : split(kVllmModules, ' ')) {
    CAPTURE(std::string(name));
    CHECK(listed.out.find(fmt::format("\"{}\"", name)) != std::string::npos);
  }
}

/// `./dev engines --wheels` fetches it.
TEST_CASE("the modules' pins fit the real vLLM wheel that they name, which is not unpacked", "[.wheel]") {
  const std::string wheel =
      real_wheel("BK_VLLM_WHEEL", std::string(BK_SOURCE_DIR) + "/.engines/wheels", "vllm-0.26.0-");
  if (wheel.empty()) return;
  const LaneFixture lane;
  const std::string modules = std::string(BK_SOURCE_DIR) + "/overlay/modules";
  const std::string head = fmt::format("COMMAND=x\nRUNTIME=namespace\nMODULES=\"{}\"\n", kVllmModules);
  // Also where packages were unpacked into a folder that has a name of its own.
  for (const char* root : {"/opt/venv/lib/python3.12/site-packages", "/tmp/site", "/tmp/vllm"}) {
    lane.write("profiles/p.env", head + "TARGET_PREFIX=" + root + "\n");
    const Ran fits = overlay_program({"verify", lane.profile(), "--modules-dir", modules, "--wheel", wheel});
    CAPTURE(root, fits.out, fits.err);
    CHECK(fits.code == 0);
    CHECK(fits.out.ends_with(" fits: 80 rows of 10 modules\n"));
  }
  lane.write("profiles/p.env", "COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX=/site/vllm\nMODULES=probe\n");
  lane.write("overlay/modules/probe/probe.py", "x = 1\n");
  lane.write("overlay/modules/probe/manifest.tsv",
             "probe.py\tversion.py\tabsent\n-\tenvs.py\t" + sha256_hex("other\n") + "\n");
  const Ran drifted = overlay_program({"verify", lane.profile(), "--wheel", wheel});
  CHECK(drifted.code == 1);
  CHECK(drifted.out.find("row 1: version.py: must be absent, but a file is there") != std::string::npos);
  CHECK(drifted.out.find("row 2: envs.py: SHA-256 is ") != std::string::npos);
}

TEST_CASE("the wheel's folder that stands for the package root") {
  const LaneFixture lane;
  const std::string wheel = (lane.root / "pkg.whl").string();
  write_wheel(wheel, {{"pkg/a.py", "a\n"}, {"pkg/pkg/a.py", "b\n"}, {"site/c.py", "c\n"}});
  struct Root {
    const char* folder;
    std::string target, bytes;
  };
  const Root kRoots[] = {{"/opt/site-packages", "pkg/a.py", "a\n"}, {"/opt/pkg", "a.py", "a\n"},
                         {"/opt/pkg", "pkg/a.py", "b\n"},           {"/tmp/any", "pkg/a.py", "a\n"},
                         {"/tmp/site", "pkg/a.py", "a\n"},          {"/tmp/site", "c.py", "c\n"}};
  for (const Root& root : kRoots) {
    CAPTURE(root.folder, root.target);
    lane.write("profiles/p.env",
               fmt::format("COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX={}\nMODULES=one\n", root.folder));
    lane.write("overlay/modules/one/manifest.tsv", "a.py\t" + root.target + "\t" + sha256_hex(root.bytes) + "\n");
    const Ran ran = overlay_program({"verify", lane.profile(), "--wheel", wheel});
    CAPTURE(ran.out, ran.err);
    CHECK(ran.code == 0);
  }
  lane.write("profiles/p.env", "COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX=/opt/other\nMODULES=two\n");
  lane.write("overlay/modules/two/requires", "");
  const Ran none = overlay_program({"verify", lane.profile(), "--wheel", wheel});
  CHECK(none.code == 2);
  CHECK(none.err.find("holds no package other") != std::string::npos);
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
