#include <catch2/catch.hpp>
#include <filesystem>

#include "base/text.h"
#include "tree.h"

namespace bk::meta {
namespace {

TEST_CASE("no source file reaches 400 lines") {
  std::vector<std::string> long_files;
  int checked = 0;
  for (const SourceFile& file : files_with({".h", ".cc", ".cu", ".cuh", ".sh", ".cmake"})) {
    ++checked;
    const std::size_t lines = file.lines().size();
    if (lines >= 400) long_files.push_back(file.path + ": " + std::to_string(lines));
  }
  CHECK(checked > 50);
  CHECK(long_files == std::vector<std::string>{});
}

TEST_CASE("main.cc stays under 60 lines") {
  std::vector<std::string> long_files;
  for (const SourceFile& file : files_with({".cc"})) {
    if (std::filesystem::path(file.path).filename() == "main.cc" && file.lines().size() >= 60) {
      long_files.push_back(file.path);
    }
  }
  CHECK(long_files == std::vector<std::string>{});
}

TEST_CASE("a header is the first include of its source, or is compiled alone") {
  std::vector<std::string> broken;
  for (const SourceFile& file : files_with({".h"})) {
    if (!starts_with(file.path, "harness/")) continue;
    if (!starts_with(file.text, "#pragma once") && file.text.find("\n#pragma once") == std::string::npos) {
      broken.push_back(file.path + ": no #pragma once");
    }
    const std::string source = file.path.substr(0, file.path.size() - 1) + "cc";
    if (!std::filesystem::exists(std::filesystem::path(BK_SOURCE_DIR) / source)) continue;
    const auto includes = load(source).includes();
    const std::string own = file.path.substr(std::string("harness/").size());
    if (includes.empty() || includes.front() != own) broken.push_back(source + ": first include is not " + own);
  }
  CHECK(broken == std::vector<std::string>{});
}

TEST_CASE("no file names a machine's folders, a package host or an instruction set") {
  // Written in two parts, so that this file does not find itself.
  const std::vector<std::string> words = {
      std::string("/wo") + "rk/",      std::string("/tmp/") + "b-",       std::string("/ro") + "ot/",
      std::string("deb.de") + "bian.", std::string("files.py") + "thon",  std::string("pypi") + ".org",
      std::string("immin") + "trin.h", std::string("-march=") + "native", std::string("../sha") + "red",
  };
  std::vector<std::string> found;
  int checked = 0;
  for (const SourceFile& file :
       files_with({".h", ".cc", ".cu", ".cuh", ".sh", ".cmake", ".txt", ".md", ".env", ".sql", ".json", ".py", ""})) {
    if (starts_with(file.path, "tests/fixtures/")) continue;
    ++checked;
    for (const std::string& word : words) {
      if (file.text.find(word) != std::string::npos) found.push_back(file.path + ": " + word);
    }
  }
  CHECK(checked > 50);
  CHECK(found == std::vector<std::string>{});
}

}  // namespace
}  // namespace bk::meta
