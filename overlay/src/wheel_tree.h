#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "manifest/tree.h"

namespace bk::overlay {

/// A wheel (zip) file as a tree. It is read once and never unpacked to disk: every entry's name is kept, and the bytes
/// of the files that were asked for.
class WheelTree final : public manifest::Tree {
 public:
  /// `package` is the last folder of the package root. "site-packages" and "dist-packages" are what a wheel unpacks to,
  /// so targets are the wheel's own paths. Another name ("vllm") is the folder of the wheel that targets lie in, unless
  /// none of `wanted` lies there and one lies at the wheel's root: packages were put into a folder of another name.
  /// kUsage: no such file, no zip, a hostile one (names that climb, are absolute or stand twice; a wanted file above
  /// 1 GiB; wrong checksums; encryption), or no such package in it.
  [[nodiscard]] static Result<std::unique_ptr<WheelTree>> open(const std::filesystem::path& path,
                                                               const std::string& package,
                                                               const std::set<std::string>& wanted);

  [[nodiscard]] std::string name() const override { return "the wheel " + path_.filename().string(); }
  [[nodiscard]] Result<manifest::Node> look(const std::string& path) const override;
  [[nodiscard]] Result<std::string> read(const std::string& path) const override;

 private:
  [[nodiscard]] manifest::NodeKind kind_of(const std::string& target) const;
  std::filesystem::path path_;
  std::string root_;                                 ///< prefix of the wheel's names that stands for the package root
  std::map<std::string, manifest::NodeKind> nodes_;  ///< by the wheel's names
  std::map<std::string, std::string> bytes_;         ///< of the wanted files, by the wheel's names
};

}  // namespace bk::overlay
