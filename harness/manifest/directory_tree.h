#pragma once
#include <filesystem>

#include "manifest/tree.h"

namespace bk::manifest {

/// A folder of this machine. Symbolic links below it are seen as such and never followed.
class DirectoryTree final : public Tree {
 public:
  explicit DirectoryTree(std::filesystem::path root) : root_(std::move(root)) {}
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

  [[nodiscard]] std::string name() const override { return "the folder " + root_.string(); }
  [[nodiscard]] Result<Node> look(const std::string& path) const override;
  [[nodiscard]] Result<std::string> read(const std::string& path) const override;
  [[nodiscard]] Result<std::string> sha256(const std::string& path) const override;

 private:
  std::filesystem::path root_;
};

}  // namespace bk::manifest
