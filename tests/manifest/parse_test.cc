#include "manifest/parse.h"

#include <catch2/catch.hpp>

#include "manifest/path.h"

namespace bk::manifest {
namespace {

const std::string kHash = "a9b3b76d49a10e662693f39c3dda16a77bc0c3e7fb32b17d1df1d25d1e1201e3";

TEST_CASE("the three kinds of row are read, comments and empty lines skipped, the last line may lack its end") {
  const std::string text =
      "# head\n\na.py\tpkg/a.py\t" + kHash + "\nb.py\t/opt/x/pkg/b.py\tabsent\n-\tpkg/c.py\t" + kHash;
  const auto rows = parse_manifest(text, "m.tsv", "/opt/x");
  REQUIRE(rows);
  REQUIRE(rows->size() == 3);
  CHECK((*rows)[0].kind == RowKind::kReplace);
  CHECK((*rows)[0].source == "a.py");
  CHECK((*rows)[0].target == "pkg/a.py");
  CHECK((*rows)[0].preimage == kHash);
  CHECK((*rows)[0].line == 3);
  CHECK((*rows)[1].kind == RowKind::kAdd);
  CHECK((*rows)[1].target == "pkg/b.py");
  CHECK((*rows)[1].preimage.empty());
  CHECK((*rows)[2].kind == RowKind::kVerify);
  CHECK((*rows)[2].source.empty());
  CHECK((*rows)[2].line == 5);
  CHECK_FALSE((*rows)[2].mounts());
}

TEST_CASE("an absolute and a relative spelling of one target are one target") {
  const std::string text = "a.py\tpkg/a.py\tabsent\nb.py\t/opt/x/pkg/a.py\tabsent\n";
  const auto rows = parse_manifest(text, "m.tsv", "/opt/x");
  REQUIRE_FALSE(rows);
  CHECK(rows.error().text() == "target pkg/a.py of row 2 is claimed already by row 1 (m.tsv:2)");
}

TEST_CASE("an absolute target needs a package root") {
  const auto rows = parse_manifest("a.py\t/opt/x/a.py\tabsent\n", "m.tsv", "");
  REQUIRE_FALSE(rows);
  CHECK(rows.error().text() == "target '/opt/x/a.py' is not below the package root (none is set) (m.tsv:1)");
}

TEST_CASE("package roots") {
  CHECK_FALSE(root_fault(""));
  CHECK_FALSE(root_fault("/opt/venv/lib/python3.12/site-packages/vllm"));
  CHECK(root_fault("opt/x") == "it is not absolute");
  CHECK(root_fault("/"));
  CHECK(root_fault("/opt/"));
  CHECK(root_fault("/opt/../x"));
  CHECK(root_fault("/opt/a b"));
  CHECK(root_fault("/opt/a:b"));
}

TEST_CASE("requires: one module a line, comments, no doubles") {
  const auto names = parse_requires("# needs\nfirst\n\nsecond-2\n", "m/requires");
  REQUIRE(names);
  CHECK(*names == std::vector<std::string>{"first", "second-2"});
  const std::pair<const char*, const char*> kBad[] = {
      {"a b\n", "m/requires:1"}, {"a\na\n", "m/requires:2"}, {"../x\n", "m/requires:1"}, {"# x\n-a\n", "m/requires:2"},
      {"a\r\n", "m/requires:1"}, {" a\n", "m/requires:1"},   {"a.b\n", "m/requires:1"},
  };
  for (const auto& [text, where] : kBad) {
    CAPTURE(text);
    const auto bad = parse_requires(text, "m/requires");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().where == where);
  }
}

}  // namespace
}  // namespace bk::manifest
