#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.h"
#include "manifest/compose.h"
#include "manifest/directory_tree.h"
#include "manifest/verify.h"

namespace bk::manifest {
namespace {
namespace fs = std::filesystem;

const fs::path kCase = fs::path(BK_SOURCE_DIR) / "tests/fixtures/27-manifest-preimage";

std::string bytes_of(const fs::path& path) {
  auto bytes = read_file(kCase / path);
  REQUIRE(bytes);
  return *bytes;
}

struct Outcome {
  Status composed;
  std::size_t rows = 0;
  std::vector<Problem> problems;
};

/// The case's manifest over a package whose attention.py is `base`.
Outcome judge(const std::string& manifest, const std::string& base) {
  MemoryTree module("the module");
  module.add_file("manifest.tsv", bytes_of(manifest));
  for (const char* name : {"attention.py", "newfile.py"}) module.add_file(name, bytes_of(fs::path("overlay") / name));
  MemoryTree package("the package");
  package.add_file("pkg/model/attention.py", bytes_of(fs::path("base") / base));
  const auto composed = compose("case", "", {{"m", &module}});
  if (!composed) return {fail(composed.error()), 0, {}};
  auto problems = verify(composed->rows, package);
  REQUIRE(problems);
  return {Status{}, composed->rows.size(), *problems};
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("case 27: hashes of the base files") {
  const DirectoryTree base(kCase / "base");
  CHECK(base.sha256("attention.py").value() == "a9b3b76d49a10e662693f39c3dda16a77bc0c3e7fb32b17d1df1d25d1e1201e3");
  CHECK(base.sha256("attention.crlf.py").value() == "4f7db9a7b6c4662acab8bc627c71df33ccab059b30aa61a585582e65f7d755c6");
}

TEST_CASE("case 27: good manifests pass with two rows") {
  for (const char* manifest : {"ok.tsv", "ok-no-last-newline.tsv"}) {
    CAPTURE(manifest);
    const Outcome outcome = judge(manifest, "attention.py");
    REQUIRE(outcome.composed);
    CHECK(outcome.rows == 2);
    CHECK(outcome.problems.empty());
  }
}

TEST_CASE("case 27: malformed manifests are refused with row and cause") {
  struct Refusal {
    const char* manifest;
    const char* where;
    const char* cause;
  };
  const Refusal kRefusals[] = {
      {"blanks-not-tabs.tsv", "m/manifest.tsv:2", "no tab"},
      {"bom.tsv", "m/manifest.tsv:1", "byte order mark (BOM)"},
      {"crlf.tsv", "m/manifest.tsv:1", "CRLF line ends"},
      {"dotdot.tsv", "m/manifest.tsv:2", "the segment '..'"},
      {"duplicate-target-other-spelling.tsv", "m/manifest.tsv:3", "the segment '.'"},
      {"duplicate-target.tsv", "m/manifest.tsv:3", "pkg/model/attention.py of row 3 is claimed already by row 2"},
      {"empty.tsv", "m/manifest.tsv", "no row"},
      {"four-fields.tsv", "m/manifest.tsv:2", "4 fields"},
      {"missing-source.tsv", "m/manifest.tsv:2", "nothere.py is missing"},
      {"short-hash.tsv", "m/manifest.tsv:2", "63 hex digits"},
      {"source-is-path.tsv", "m/manifest.tsv:2", "it is a path"},
      {"upper-hex.tsv", "m/manifest.tsv:2", "upper-case"},
  };
  for (const Refusal& refusal : kRefusals) {
    CAPTURE(refusal.manifest);
    const Outcome outcome = judge(refusal.manifest, "attention.py");
    REQUIRE_FALSE(outcome.composed);
    CHECK(outcome.composed.error().code == Errc::kUsage);
    CHECK(outcome.composed.error().where == refusal.where);
    CAPTURE(outcome.composed.error().what);
    CHECK(holds(outcome.composed.error().what, refusal.cause));
  }
}

TEST_CASE("case 27: a preimage that does not fit is named, with line ends as a hint where they explain it") {
  struct Misfit {
    const char* manifest;
    const char* base;
    Mismatch reason;
    const char* hint;  ///< empty: no hint may stand there
  };
  const Misfit kMisfits[] = {
      {"stale.tsv", "attention.py", Mismatch::kDiffers, ""},
      {"ok.tsv", "attention.crlf.py", Mismatch::kDiffers, "LF form would match"},
      {"hash-of-crlf.tsv", "attention.py", Mismatch::kDiffers, "CRLF form would match"},
      {"ok.tsv", "attention.drifted.py", Mismatch::kDiffers, ""},
      {"absent-but-there.tsv", "attention.py", Mismatch::kPresent, ""},
  };
  for (const Misfit& misfit : kMisfits) {
    CAPTURE(misfit.manifest, misfit.base);
    const Outcome outcome = judge(misfit.manifest, misfit.base);
    REQUIRE(outcome.composed);
    REQUIRE(outcome.problems.size() == 1);
    const Problem& problem = outcome.problems.front();
    CHECK(problem.line == 2);
    CHECK(problem.module == "m");
    CHECK(problem.target == "pkg/model/attention.py");
    CHECK(problem.reason == misfit.reason);
    CAPTURE(problem.text);
    CHECK(holds(problem.text, "would match") == (*misfit.hint != '\0'));
    CHECK(holds(problem.text, std::string("; its ") + misfit.hint) == (*misfit.hint != '\0'));
  }
}

}  // namespace
}  // namespace bk::manifest
