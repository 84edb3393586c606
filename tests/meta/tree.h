#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bk::meta {

/// One text file of the repository.
struct SourceFile {
  std::string path;  ///< relative to the repository, with '/'
  std::string text;
  [[nodiscard]] std::vector<std::string> lines() const;
  /// What it includes, in order: "base/text.h" of quotes, "<vector>" of angle brackets.
  [[nodiscard]] std::vector<std::string> includes() const;
};

/// Every file under the repository with one of the extensions (".cc"; "" is a file without), build outputs left out.
[[nodiscard]] std::vector<SourceFile> files_with(const std::set<std::string>& extensions);
[[nodiscard]] SourceFile load(const std::string& path);
[[nodiscard]] bool starts_with(const std::string& text, const std::string& start);

/// folder -> the folders that it may include, itself and the closure over LAYERS.txt among them; "*" allows all.
[[nodiscard]] std::map<std::string, std::set<std::string>> layers();
/// The layer of a path: "stats" of harness/stats/x.h, "bench" of bench/x/main.cc; empty when none.
[[nodiscard]] std::string layer_of(const std::string& path);
/// Names of all programs that the CMake lists declare, with their folders.
[[nodiscard]] std::map<std::string, std::string> programs();

}  // namespace bk::meta
