#include "manifest/compose.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/sha256.h"
#include "manifest/directory_tree.h"
#include "manifest/verify.h"

namespace bk::manifest {
namespace {

const std::string kRoot = "/opt/pkg";
const std::string kOld = "old\n";

/// Module folders by name; compose_all() composes them in the order in which they were added.
struct Modules {
  std::vector<std::pair<std::string, MemoryTree>> trees;

  MemoryTree& add(const std::string& name, const std::string& manifest) {
    trees.emplace_back(name, MemoryTree("module " + name));
    trees.back().second.add_file("manifest.tsv", manifest);
    return trees.back().second;
  }
  [[nodiscard]] Result<Composition> compose_all(const std::string& root = kRoot) const {
    std::vector<Module> modules;
    for (const auto& [name, tree] : trees) modules.push_back({name, &tree});
    return compose("lane", root, modules);
  }
};

std::string error_of(const Modules& modules) {
  const auto composed = modules.compose_all();
  REQUIRE_FALSE(composed);
  CHECK(composed.error().code == Errc::kUsage);
  return composed.error().text();
}

TEST_CASE("modules compose in order to one flat tree whose manifest reads back to the same rows") {
  Modules modules;
  modules.add("one", "a.py\tx/a.py\t" + sha256_hex(kOld) + "\n-\tx/c.py\t" + sha256_hex(kOld) + "\n")
      .add_file("a.py", "A\n");
  modules.add("two", "b.py\t/opt/pkg/x/b.py\tabsent\n").add_file("b.py", "B\n");
  modules.trees.back().second.add_file("requires", "one\n");
  const auto composed = modules.compose_all();
  REQUIRE(composed);
  CHECK(composed->modules == std::vector<std::string>{"one", "two"});
  REQUIRE(composed->files.size() == 2);
  CHECK(composed->files[0].name == "a.py");
  CHECK(composed->files[1].target == "x/b.py");
  CHECK(composed->manifest_text() ==
        "# profile lane: source, target, SHA-256 of the file it replaces or absent\n"
        "# module one\n"
        "a.py\t/opt/pkg/x/a.py\t" +
            sha256_hex(kOld) + "\n-\t/opt/pkg/x/c.py\t" + sha256_hex(kOld) +
            "\n# module two\nb.py\t/opt/pkg/x/b.py\tabsent\n");
  CHECK(composed->hash_list() == sha256_hex(composed->manifest_text()) + "  manifest.tsv\n" + sha256_hex("A\n") +
                                     "  a.py\n" + sha256_hex("B\n") + "  b.py\n");
  const auto rows = parse_manifest(composed->manifest_text(), "m", kRoot);
  REQUIRE(rows);
  REQUIRE(rows->size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK((*rows)[i].target == composed->rows[i].row.target);
    CHECK((*rows)[i].source == composed->rows[i].row.source);
    CHECK((*rows)[i].kind == composed->rows[i].row.kind);
    CHECK((*rows)[i].preimage == composed->rows[i].row.preimage);
  }
  Modules elsewhere = modules;
  elsewhere.trees[1].second.add_file("manifest.tsv", "b.py\tx/b.py\tabsent\n");
  CHECK(elsewhere.compose_all("/elsewhere")->digest() == composed->digest());
  elsewhere.trees[0].second.add_file("a.py", "A2\n");
  CHECK(elsewhere.compose_all("/elsewhere")->digest() != composed->digest());
}

TEST_CASE("a target or source claimed twice names both owners") {
  Modules modules;
  modules.add("one", "a.py\tx/a.py\tabsent\n").add_file("a.py", "A\n");
  modules.add("two", "# second\nb.py\t/opt/pkg/x/a.py\tabsent\n").add_file("b.py", "B\n");
  CHECK(error_of(modules) ==
        "target x/a.py of module two (row 2) is claimed already by module one (row 1) (two/manifest.tsv:2)");
  modules.trees.pop_back();
  modules.add("two", "a.py\tx/b.py\tabsent\n").add_file("a.py", "A\n");
  CHECK(error_of(modules) ==
        "source a.py of module two (row 1) is claimed already: it is the source a.py of module one (row 1) "
        "(two/manifest.tsv:1)");
  modules.trees.pop_back();
  modules.add("two", "b.py\tX/A.py\tabsent\n").add_file("b.py", "B\n");
  CHECK(error_of(modules) ==
        "target X/A.py of module two (row 1) differs in case alone from x/a.py of module one (row 1) "
        "(two/manifest.tsv:1)");
}

TEST_CASE("a module may pin what another one replaces only when it requires that one") {
  const std::string pin = "-\tx/a.py\t" + sha256_hex(kOld) + "\n";
  Modules modules;
  modules.add("one", "a.py\tx/a.py\t" + sha256_hex(kOld) + "\n").add_file("a.py", "A\n");
  modules.add("two", pin);
  CHECK(error_of(modules) ==
        "module two (row 1) pins x/a.py, which module one (row 1) mounts a file over: what it reaches into is not what "
        "it pinned; name that module in `requires` when this is meant (two/manifest.tsv:1)");
  modules.trees.back().second.add_file("requires", "one\n");
  CHECK(modules.compose_all());
  std::swap(modules.trees[0], modules.trees[1]);
  CHECK(modules.compose_all());
  Modules two_pins;
  two_pins.add("one", pin);
  two_pins.add("two", pin);
  CHECK(two_pins.compose_all());
  two_pins.add("three", "-\tx/a.py\t" + sha256_hex("other\n") + "\n");
  CHECK(error_of(two_pins) ==
        "target x/a.py of module three (row 1) is pinned to other bytes by module one (row 1) (three/manifest.tsv:1)");
}

TEST_CASE("modules that cannot be composed") {
  Modules modules;
  MemoryTree& tree = modules.add("one", "a.py\tx/a.py\tabsent\n");
  CHECK(error_of(modules) == "source a.py is missing in module one (one/manifest.tsv:1)");
  tree.add_symlink("a.py");
  CHECK(error_of(modules) == "source a.py is a symbolic link: put the file itself there (one/manifest.tsv:1)");
  Modules folder;
  folder.add("one", "a.py\tx/a.py\tabsent\n").add_directory("a.py");
  CHECK(error_of(folder) == "source a.py is no regular file (one/manifest.tsv:1)");
  Modules unmet;
  unmet.add("one", "a.py\tx/a.py\tabsent\n").add_file("requires", "two\n");
  CHECK(error_of(unmet) == "module one requires two, which is not in MODULES of lane (one/requires)");
  Modules itself;
  itself.add("one", "a.py\tx/a.py\tabsent\n").add_file("requires", "one\n");
  CHECK(error_of(itself) == "module one requires one, which is itself (one/requires)");
  Modules twice;
  twice.add("one", "a.py\tx/a.py\tabsent\n");
  twice.add("one", "b.py\tx/b.py\tabsent\n");
  CHECK(error_of(twice) == "module one is named twice in MODULES (lane)");
  Modules odd;
  odd.add("../one", "a.py\tx/a.py\tabsent\n");
  CHECK(error_of(odd) == "module name '../one': it has the character '.' (lane)");
  Modules same;
  same.add("one", "a.py\tx/a.py\t" + sha256_hex("A\n") + "\n").add_file("a.py", "A\n");
  CHECK(error_of(same) == "source a.py is the file that it replaces: it changes nothing (one/manifest.tsv:1)");
  CHECK(error_of(Modules{}) == "no module, so nothing to compose: set MODULES (lane)");
  CHECK_FALSE(modules.compose_all("relative/root"));
}

TEST_CASE("verify finds links, folders and missing files, in parents too") {
  const TempDir dir;
  const auto path = [&](const char* name) { return dir.path() / name; };
  REQUIRE(make_directories(path("real")));
  REQUIRE(write_file_atomic(path("real/a.py"), kOld));
  std::filesystem::create_symlink("real", path("linked"));
  std::filesystem::create_symlink("a.py", path("real/link.py"));
  std::filesystem::create_symlink("nowhere", path("real/dangling.py"));
  const DirectoryTree package(dir.path());
  const std::string pin = sha256_hex(kOld);
  struct Case {
    Row row;
    std::optional<Mismatch> expected;
  };
  const Case kCases[] = {
      {{1, RowKind::kReplace, "s", "real/a.py", pin}, {}},
      {{1, RowKind::kVerify, "", "real/a.py", pin}, {}},
      {{1, RowKind::kVerify, "", "real/a.py", sha256_hex("other")}, Mismatch::kDiffers},
      {{1, RowKind::kReplace, "s", "real/none.py", pin}, Mismatch::kMissing},
      {{1, RowKind::kReplace, "s", "none/a.py", pin}, Mismatch::kMissing},
      {{1, RowKind::kReplace, "s", "real", pin}, Mismatch::kNotRegular},
      {{1, RowKind::kReplace, "s", "real/link.py", pin}, Mismatch::kNotRegular},
      {{1, RowKind::kReplace, "s", "linked/a.py", pin}, Mismatch::kNotAFolder},
      {{1, RowKind::kReplace, "s", "real/a.py/x", pin}, Mismatch::kNotAFolder},
      {{1, RowKind::kAdd, "s", "real/new.py", ""}, {}},
      {{1, RowKind::kAdd, "s", "new/new.py", ""}, {}},
      {{1, RowKind::kAdd, "s", "real/a.py", ""}, Mismatch::kPresent},
      {{1, RowKind::kAdd, "s", "real/link.py", ""}, Mismatch::kPresent},
      {{1, RowKind::kAdd, "s", "real/dangling.py", ""}, Mismatch::kPresent},
      {{1, RowKind::kAdd, "s", "real", ""}, Mismatch::kPresent},
      {{1, RowKind::kAdd, "s", "linked/new.py", ""}, Mismatch::kNotAFolder},
      {{1, RowKind::kAdd, "s", "real/a.py/new.py", ""}, Mismatch::kNotAFolder},
  };
  for (const Case& each : kCases) {
    CAPTURE(each.row.target);
    const auto problems = verify({{"m", each.row}}, package);
    REQUIRE(problems);
    REQUIRE(problems->size() == (each.expected ? 1 : 0));
    if (each.expected) CHECK(problems->front().reason == *each.expected);
    CHECK(as_status(*problems, package).has_value() == problems->empty());
  }
}

TEST_CASE("a folder's files are read without following a link, whatever a look said before") {
  const TempDir dir;
  const auto path = [&](const char* name) { return dir.path() / name; };
  REQUIRE(make_directories(path("real/sub")));
  REQUIRE(write_file_atomic(path("real/sub/a.py"), kOld));
  std::filesystem::create_symlink("real", path("linked"));
  std::filesystem::create_symlink("a.py", path("real/sub/link.py"));
  REQUIRE(mkfifo(path("real/pipe").c_str(), 0600) == 0);
  const DirectoryTree tree(dir.path());
  CHECK(tree.read("real/sub/a.py").value() == kOld);
  CHECK(tree.sha256("real/sub/a.py").value() == sha256_hex(kOld));
  for (const char* bad :
       {"linked/sub/a.py", "real/sub/link.py", "real/pipe", "real/sub", "none", "none/a", "real/sub/a.py/b"}) {
    CAPTURE(bad);
    REQUIRE_FALSE(tree.read(bad));
    CHECK(tree.read(bad).error().code == Errc::kIo);
    CHECK(tree.read(bad).error().where == path(bad).string());
    CHECK_FALSE(tree.sha256(bad));
  }
  CHECK_FALSE(DirectoryTree(path("none")).read("a"));
}

}  // namespace
}  // namespace bk::manifest
