#include "manifest/directory_tree.h"

#include <system_error>

#include "base/file.h"

namespace bk::manifest {
namespace fs = std::filesystem;

Result<Node> DirectoryTree::look(const std::string& path) const {
  return walk(path, [this](const std::string& part) -> Result<NodeKind> {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(root_ / part, error);
    switch (status.type()) {
      case fs::file_type::not_found:
        return NodeKind::kAbsent;
      case fs::file_type::regular:
        return NodeKind::kFile;
      case fs::file_type::directory:
        return NodeKind::kDirectory;
      case fs::file_type::symlink:
        return NodeKind::kSymlink;
      case fs::file_type::none:
        return fail(Errc::kIo, error.message(), (root_ / part).string());
      default:
        return NodeKind::kOther;
    }
  });
}

Status DirectoryTree::must_be_file(const std::string& path) const {
  BK_ASSIGN(const Node node, look(path));
  if (node.kind == NodeKind::kFile && node.at == path) return {};
  return fail(Errc::kIo, "it is no regular file", (root_ / path).string());
}

Result<std::string> DirectoryTree::read(const std::string& path) const {
  BK_TRY(must_be_file(path));
  return read_file(root_ / path);
}

Result<std::string> DirectoryTree::sha256(const std::string& path) const {
  BK_TRY(must_be_file(path));
  return sha256_file(root_ / path);
}

}  // namespace bk::manifest
