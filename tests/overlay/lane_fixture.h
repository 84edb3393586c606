#pragma once
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "base/file.h"
#include "base/sha256.h"
#include "run.h"
#include "support/run_in_process.h"

namespace bk::overlay {

/// A tree with one profile ("p"), modules and an installed package, as a boot would find them.
struct LaneFixture {
  TempDir dir;
  const std::filesystem::path root = dir.path();
  const std::filesystem::path package = root / "site-packages";
  const std::string old_text = "def f():\n    return 1\n";

  LaneFixture() {
    write("profiles/p.env",
          "COMMAND=\"{BIN}/sim-engine --port {PORT}\"\nRUNTIME=namespace\nTARGET_PREFIX={ROOT}/site-packages\n"
          "MODULES=\"one two\"\n");
    write("site-packages/pkg/a.py", old_text);
    write("site-packages/pkg/b.py", "b\n");
    write("overlay/modules/one/manifest.tsv",
          "a.py\tpkg/a.py\t" + sha256_hex(old_text) + "\n-\tpkg/b.py\t" + sha256_hex("b\n") + "\n");
    write("overlay/modules/one/a.py", "def f():\n    return 2\n");
    write("overlay/modules/two/manifest.tsv", "new.py\tpkg/sub/new.py\tabsent\n");
    write("overlay/modules/two/new.py", "n = 1\n");
    write("overlay/modules/two/requires", "one\n");
  }

  void write(const std::string& path, const std::string& bytes) const {
    REQUIRE(make_directories((root / path).parent_path()));
    REQUIRE(write_file_atomic(root / path, bytes));
  }
  [[nodiscard]] std::string profile() const { return (root / "profiles/p.env").string(); }
};

using test::Ran;

inline Ran overlay_program(const cli::Args& args) { return test::run_in_process("overlay", run, args); }

/// Every file below a folder with its bytes.
inline std::map<std::string, std::string> files_below(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).string()] = read_file(entry.path()).value_or("unreadable");
  }
  return files;
}

}  // namespace bk::overlay
