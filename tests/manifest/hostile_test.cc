#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "manifest/parse.h"
#include "manifest/path.h"

namespace bk::manifest {
namespace {

const std::string kHash(64, 'a');
const std::string kRoot = "/opt/venv/lib/python3.12/site-packages/vllm";

struct Hostile {
  std::string manifest;
  int row;  ///< 0: the file as a whole
  std::string cause;
};

std::string row_of(const std::string& source, const std::string& target, const std::string& contract) {
  return source + "\t" + target + "\t" + contract + "\n";
}

/// Good rows above a bad one, so that the named row is a found one.
Hostile bad(const std::string& source, const std::string& target, const std::string& contract, const char* cause) {
  return {"# head\n" + row_of("good.py", "good.py", "absent") + row_of(source, target, contract), 3, cause};
}

std::vector<Hostile> listed() {
  std::vector<Hostile> all = {
      {"", 0, "no row"},
      {"\n\n", 0, "no row"},
      {"# only a comment", 0, "no row"},
      {"\xEF\xBB\xBF" + row_of("a", "a", "absent"), 1, "BOM"},
      {"a\ta\tabsent\r\n", 1, "CRLF"},
      {"# head\r\na\ta\tabsent\n", 1, "CRLF"},
      {"a\ta\tabsent\nb\tb\tabs\rent\n", 2, "carriage return"},
      {"a\ta\tabsent\r", 1, "carriage return"},
      {std::string("a\ta\0\tabsent\n", 12), 1, "NUL"},
      {"a\n", 1, "no tab"},
      {"a b absent\n", 1, "no tab"},
      {" \n", 1, "no tab"},
      {"a\tb\n", 1, "2 fields"},
      {"a\tb\tabsent\t\n", 1, "4 fields"},
      {"a\t\tb\tabsent\n", 1, "4 fields"},
      {"a\tb\tabsent\tabsent\tabsent\n", 1, "5 fields"},
      {"\tb\tabsent\n", 1, "source '': it is empty"},
      {" # x\ty\tabsent\n", 1, "source"},
      bad("a.py", "", "absent", "it is empty"),
      bad("a.py", "a.py", "", "0 hex digits"),
      bad("a.py", "a.py", "Absent", "upper-case"),
      bad("a.py", "a.py", "ABSENT", "upper-case"),
      bad("a.py", "a.py", "absent ", "neither"),
      bad("a.py", "a.py", " absent", "neither"),
      bad("a.py", "a.py", "absentx", "neither"),
      bad("a.py", "a.py", "none", "neither"),
      bad("a.py", "a.py", std::string(63, 'a'), "63 hex digits"),
      bad("a.py", "a.py", std::string(65, 'a'), "65 hex digits"),
      bad("a.py", "a.py", std::string(32, 'a'), "32 hex digits"),
      bad("a.py", "a.py", std::string(64, 'A'), "upper-case"),
      bad("a.py", "a.py", std::string(63, 'a') + "A", "upper-case"),
      bad("a.py", "a.py", std::string(63, 'a') + "g", "neither"),
      bad("a.py", "a.py", "sha256:" + kHash, "neither"),
      bad("a.py", "a.py", kHash + " ", "neither"),
      bad("a.py", "a.py", "0x" + std::string(62, 'a'), "neither"),
      bad("a.py", "..", "absent", "'..'"),
      bad("a.py", "../x", "absent", "'..'"),
      bad("a.py", "x/..", "absent", "'..'"),
      bad("a.py", "x/../y", "absent", "'..'"),
      bad("a.py", "x/../../y", "absent", "'..'"),
      bad("a.py", ".", "absent", "'.'"),
      bad("a.py", "./x", "absent", "'.'"),
      bad("a.py", "x/./y", "absent", "'.'"),
      bad("a.py", "x/.", "absent", "'.'"),
      bad("a.py", "x//y", "absent", "empty segment"),
      bad("a.py", "x/", "absent", "empty segment"),
      bad("a.py", "/", "absent", "not below the package root"),
      bad("a.py", "/etc/passwd", "absent", "not below the package root"),
      bad("a.py", kRoot, "absent", "not below the package root"),
      bad("a.py", kRoot + "/", "absent", "it is empty"),
      bad("a.py", kRoot + "//x", "absent", "it is absolute"),
      bad("a.py", kRoot + "/../x", "absent", "'..'"),
      bad("a.py", kRoot + "/../../../../../../etc/passwd", "absent", "'..'"),
      bad("a.py", kRoot + "x/y", "absent", "not below the package root"),
      bad("a.py", kRoot + "-evil/y", "absent", "not below the package root"),
      bad("a.py", "/OPT/venv/lib/python3.12/site-packages/vllm/x", "absent", "not below the package root"),
      bad("a.py", "//opt/venv/lib/python3.12/site-packages/vllm/x", "absent", "not below the package root"),
      bad("a.py", std::string(256, 'x'), "absent", "longer than 255"),
      bad("a.py", std::string(1025, 'x'), "absent", "longer than 1024"),
      bad("../a.py", "x", "absent", "it is a path"),
      bad("/a.py", "x", "absent", "it is a path"),
      bad("sub/a.py", "x", "absent", "it is a path"),
      bad(".", "x", "absent", "starts with a dot"),
      bad("..", "x", "absent", "starts with a dot"),
      bad(".hidden", "x", "absent", "starts with a dot"),
      bad("manifest.tsv", "x", "absent", "reserved"),
      bad("MANIFEST.TSV", "x", "absent", "reserved"),
      bad("requires", "x", "absent", "reserved"),
      bad("SHA256SUMS", "x", "absent", "reserved"),
      bad(std::string(256, 'x'), "x", "absent", "longer than 255"),
      bad("-", "x", "absent", "pins nothing"),
      bad("-", "good.py", kHash, "mounts a file over"),
      bad("good.py", "x", "absent", "is claimed already"),
      bad("Good.py", "x", "absent", "differs in case alone"),
      bad("a.py", "good.py", "absent", "is claimed already by row 2"),
      bad("a.py", "good.py", kHash, "is claimed already by row 2"),
      bad("a.py", kRoot + "/good.py", "absent", "is claimed already by row 2"),
      bad("a.py", "GOOD.py", "absent", "differs in case alone"),
      bad("a.py", "good.py/x", "absent", "lies below good.py"),
      {row_of("a", "d/x", "absent") + row_of("b", "d", "absent"), 2, "is the folder of"},
      {row_of("a", "d/e/x", "absent") + row_of("b", "D", "absent"), 2, "is the folder of"},
      {row_of("-", "x", kHash) + row_of("-", "x", kHash), 2, "is pinned already"},
      {row_of("-", "x", kHash) + row_of("-", "X", kHash), 2, "differs in case alone"},
      {row_of("-", "x", kHash) + row_of("a", "x", kHash), 2, "mounts a file over"},
  };
  for (int byte = 1; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool allowed =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (allowed || c == '\t' || c == '\n' || c == '\r' || c == '/') continue;
    all.push_back(bad("a.py", std::string("pkg/x") + c + "y", "absent", "it has the character"));
    all.push_back(bad(std::string("a") + c + "b", "x", "absent", "it has the character"));
  }
  return all;
}

TEST_CASE("hostile manifests are refused with row and cause, in one printable line") {
  const auto all = listed();
  CHECK(all.size() >= 200);
  for (const Hostile& hostile : all) {
    CAPTURE(printable(hostile.manifest));
    const auto rows = parse_manifest(hostile.manifest, "m.tsv", kRoot);
    REQUIRE_FALSE(rows);
    CHECK(rows.error().code == Errc::kUsage);
    CHECK(rows.error().where == (hostile.row == 0 ? "m.tsv" : "m.tsv:" + std::to_string(hostile.row)));
    CAPTURE(rows.error().what);
    CHECK(rows.error().what.find(hostile.cause) != std::string::npos);
    for (const char c : rows.error().what) CHECK(static_cast<unsigned char>(c) >= ' ');
  }
}

}  // namespace
}  // namespace bk::manifest
