#pragma once
#include <map>
#include <set>
#include <string>

#include "base/result.h"

namespace bk::manifest {

enum class NodeKind { kAbsent, kFile, kDirectory, kSymlink, kOther };

/// What stands at a path of a tree.
struct Node {
  NodeKind kind = NodeKind::kAbsent;
  std::string at;  ///< the path itself, or the parent that decides: a symbolic link, or a file in a folder's place
};

/// Files that may be looked at and read: a folder, a wheel, a module, a fake. Paths are relative, with '/'.
class Tree {
 public:
  virtual ~Tree() = default;
  /// For people: "the folder x", "the wheel y".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Symbolic links are never followed, not in a parent either.
  [[nodiscard]] virtual Result<Node> look(const std::string& path) const = 0;
  /// The bytes of a file. kIo when it is none.
  [[nodiscard]] virtual Result<std::string> read(const std::string& path) const = 0;
  /// SHA-256 of a file, 64 lower-case hex digits.
  [[nodiscard]] virtual Result<std::string> sha256(const std::string& path) const;
};

/// A tree in memory.
class MemoryTree final : public Tree {
 public:
  explicit MemoryTree(std::string name) : name_(std::move(name)) {}
  void add_file(const std::string& path, std::string bytes) { files_[path] = std::move(bytes); }
  void add_symlink(const std::string& path) { symlinks_.insert(path); }
  void add_directory(const std::string& path) { directories_.insert(path); }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Result<Node> look(const std::string& path) const override;
  [[nodiscard]] Result<std::string> read(const std::string& path) const override;

 private:
  [[nodiscard]] NodeKind kind_of(const std::string& path) const;
  std::string name_;
  std::map<std::string, std::string> files_;
  std::set<std::string> symlinks_;
  std::set<std::string> directories_;
};

/// Walks from the first segment down: a parent that is a symbolic link or no folder decides, and so does a missing one.
template <class KindOf>
Result<Node> walk(const std::string& path, KindOf kind_of) {
  std::size_t end = path.find('/');
  for (; end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string parent = path.substr(0, end);
    BK_ASSIGN(const NodeKind kind, kind_of(parent));
    if (kind == NodeKind::kAbsent) return Node{NodeKind::kAbsent, parent};
    if (kind != NodeKind::kDirectory) return Node{kind, parent};
  }
  BK_ASSIGN(const NodeKind kind, kind_of(path));
  return Node{kind, path};
}

}  // namespace bk::manifest
