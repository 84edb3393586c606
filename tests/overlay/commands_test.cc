#include <catch2/catch.hpp>

#include "base/json.h"
#include "lane_fixture.h"

namespace bk::overlay {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("compose writes one flat tree and replaces an older one") {
  const LaneFixture lane;
  const std::string build = (lane.root / "build").string();
  const Ran first = overlay_program({"compose", lane.profile(), "--build-dir", build});
  CHECK(first.err.empty());
  REQUIRE(first.code == 0);
  auto files = files_below(lane.root / "build");
  REQUIRE(files.size() == 4);
  CHECK(files["p/a.py"] == "def f():\n    return 2\n");
  CHECK(files["p/new.py"] == "n = 1\n");
  CHECK(holds(files["p/manifest.tsv"], "# module two\nnew.py\t" + lane.package.string() + "/pkg/sub/new.py\tabsent\n"));
  CHECK(holds(files["p/SHA256SUMS"], sha256_hex(files["p/manifest.tsv"]) + "  manifest.tsv\n"));
  lane.write("overlay/modules/two/new.py", "n = 2\n");
  REQUIRE(overlay_program({"compose", lane.profile(), "--build-dir", build}).code == 0);
  files = files_below(lane.root / "build");
  CHECK(files.size() == 4);
  CHECK(files["p/new.py"] == "n = 2\n");
}

TEST_CASE("a fault writes nothing and leaves the older composition") {
  const LaneFixture lane;
  const std::string build = (lane.root / "build").string();
  const auto compose = [&] { return overlay_program({"compose", lane.profile(), "--build-dir", build}); };
  lane.write("overlay/modules/two/manifest.tsv", "new.py\tpkg/a.py\tabsent\n");
  const Ran clash = compose();
  CHECK(clash.code == 2);
  CHECK(clash.err ==
        "overlay: error: target pkg/a.py of module two (row 1) is claimed already by module one (row 1) "
        "(two/manifest.tsv:1)\n");
  CHECK_FALSE(std::filesystem::exists(build));
  lane.write("overlay/modules/two/manifest.tsv", "new.py\tpkg/sub/new.py\tabsent\n");
  REQUIRE(compose().code == 0);
  const auto good = files_below(build);
  const std::pair<const char*, const char*> kFaults[] = {
      {"overlay/modules/two/manifest.tsv", "new.py\tpkg/../../x.py\tabsent\n"},
      {"overlay/modules/two/manifest.tsv", "new.py\tpkg/sub/new.py\tabsent\r\n"},
      {"overlay/modules/two/manifest.tsv", "none.py\tpkg/sub/new.py\tabsent\n"},
      {"overlay/modules/two/requires", "three\n"},
      {"profiles/p.env", "COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX={ROOT}/site-packages\nMODULES=\"one tow\"\n"},
      {"profiles/p.env", "COMMAND=x\nRUNTIME=process\nTARGET_PREFIX={ROOT}/site-packages\nMODULES=\"one two\"\n"},
      {"profiles/p.env", "COMMAND=x\nRUNTIME=namespace\nMODULES=\"one two\"\n"},
      {"profiles/p.env", "COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX=site-packages\nMODULES=one\n"},
      {"profiles/p.env", "COMMAND=x\nRUNTIME=namespace\n"},
      {"profiles/p.env", "COMMAND=x\n"},
  };
  for (const auto& [path, bytes] : kFaults) {
    CAPTURE(path, bytes);
    const std::string before = read_file(lane.root / path).value();
    lane.write(path, bytes);
    const Ran refused = compose();
    CAPTURE(refused.err);
    CHECK(refused.code == 2);
    CHECK(refused.err.starts_with("overlay: error: "));
    CHECK(files_below(build) == good);
    lane.write(path, before);
  }
  CHECK(compose().code == 0);
}

TEST_CASE("compose does not replace what it did not make, and --dry-run writes nothing") {
  const LaneFixture lane;
  const std::string build = (lane.root / "build").string();
  CHECK(overlay_program({"compose", lane.profile(), "--build-dir", build, "--dry-run"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(build));
  lane.write("build/p/mine.txt", "precious\n");
  const Ran refused = overlay_program({"compose", lane.profile(), "--build-dir", build});
  CHECK(refused.code == 2);
  CHECK(files_below(build) == std::map<std::string, std::string>{{"p/mine.txt", "precious\n"}});
}

TEST_CASE("verify against a tree, an unpacked image and the package itself") {
  const LaneFixture lane;
  CHECK(overlay_program({"verify", lane.profile()}).code == 0);
  CHECK(overlay_program({"verify", lane.profile(), "--tree", lane.package.string()}).code == 0);
  const std::filesystem::path image = lane.root / "image";
  const std::filesystem::path inside = image / lane.package.relative_path();
  std::filesystem::create_directories(inside.parent_path());
  std::filesystem::copy(lane.package, inside, std::filesystem::copy_options::recursive);
  CHECK(overlay_program({"verify", lane.profile(), "--image", image.string()}).code == 0);
  REQUIRE(write_file_atomic(inside / "pkg/b.py", "b\r\n"));
  const Ran drifted = overlay_program({"verify", lane.profile(), "--image", image.string(), "--json"});
  CHECK(drifted.code == 1);
  const auto json = parse_json(drifted.out);
  REQUIRE(json);
  CHECK((*json)["ok"].as_bool() == false);
  REQUIRE((*json)["problems"].items().size() == 1);
  const Json& problem = (*json)["problems"].items()[0];
  CHECK(problem["module"].as_string() == "one");
  CHECK(problem["row"].as_int() == 2);
  CHECK(problem["reason"].as_string() == "differs");
  CHECK(holds(*problem["text"].as_string(), "LF form would match"));
  CHECK(overlay_program({"verify", lane.profile(), "--tree", "x", "--wheel", "y"}).code == 2);
  CHECK(overlay_program({"verify", lane.profile(), "--tree", (lane.root / "none").string()}).code == 2);
}

TEST_CASE("diff and list say what changes") {
  const LaneFixture lane;
  const Ran diff = overlay_program({"diff", lane.profile()});
  REQUIRE(diff.code == 0);
  CHECK(diff.out ==
        "# replace pkg/a.py (module one): 1 lines added, 1 removed\n--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,2 +1,2 @@\n"
        " def f():\n-    return 1\n+    return 2\n"
        "# add pkg/sub/new.py (module two): 1 lines added, 0 removed\n--- /dev/null\n+++ b/pkg/sub/new.py\n"
        "@@ -0,0 +1 @@\n+n = 1\n");
  const Ran list = overlay_program({"list", lane.profile(), "--json"});
  REQUIRE(list.code == 0);
  const auto json = parse_json(list.out);
  REQUIRE(json);
  REQUIRE((*json)["rows"].items().size() == 3);
  CHECK((*json)["rows"].items()[1]["kind"].as_string() == "verify");
  CHECK((*json)["rows"].items()[2]["preimage"].as_string() == "absent");
}

}  // namespace
}  // namespace bk::overlay
