#include "manifest/tree.h"

#include "base/sha256.h"

namespace bk::manifest {

Result<std::string> Tree::sha256(const std::string& path) const {
  BK_ASSIGN(const std::string bytes, read(path));
  return sha256_hex(bytes);
}

NodeKind MemoryTree::kind_of(const std::string& path) const {
  if (symlinks_.contains(path)) return NodeKind::kSymlink;
  if (files_.contains(path)) return NodeKind::kFile;
  if (directories_.contains(path)) return NodeKind::kDirectory;
  const std::string below = path + "/";
  const auto file = files_.lower_bound(below);
  if (file != files_.end() && file->first.starts_with(below)) return NodeKind::kDirectory;
  const auto link = symlinks_.lower_bound(below);
  const bool holds_link = link != symlinks_.end() && link->starts_with(below);
  return holds_link ? NodeKind::kDirectory : NodeKind::kAbsent;
}

Result<Node> MemoryTree::look(const std::string& path) const {
  return walk(path, [this](const std::string& part) -> Result<NodeKind> { return kind_of(part); });
}

Result<std::string> MemoryTree::read(const std::string& path) const {
  const auto file = files_.find(path);
  if (file == files_.end()) return fail(Errc::kIo, "no such file in " + name_, path);
  return file->second;
}

}  // namespace bk::manifest
