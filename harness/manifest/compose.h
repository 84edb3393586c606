#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/parse.h"
#include "manifest/tree.h"

namespace bk::manifest {

/// A row and the module that it belongs to.
struct OwnedRow {
  std::string module;
  Row row;
};

/// A source file of a composed tree.
struct ComposedFile {
  std::string name;
  std::string target;  ///< below the package root
  std::string bytes;
  std::string sha256;
};

/// All modules of a profile as one flat tree.
struct Composition {
  std::string profile;
  std::string root;  ///< package root, absolute; empty: targets are relative
  std::vector<std::string> modules;
  std::vector<OwnedRow> rows;       ///< modules in order, rows in order
  std::vector<ComposedFile> files;  ///< one for each row that mounts

  /// The one manifest of the composed tree; parse_manifest() reads it back to the same rows.
  [[nodiscard]] std::string manifest_text() const;
  /// `sha256sum` text of the manifest and every source, in the manifest's order: what two nodes compare byte for byte.
  [[nodiscard]] std::string hash_list() const;
  /// SHA-256 over targets, contracts and source bytes. It does not depend on where the package root lies.
  [[nodiscard]] std::string digest() const;
};

/// A module's name and its folder: manifest.tsv, the sources, an optional `requires`.
struct Module {
  std::string name;
  const Tree* files = nullptr;
};

/// Composes the modules in order. kUsage for everything that parse_manifest() and Claims refuse, a module named oddly
/// or twice, an unmet `requires`, a source that is missing, a symbolic link or no regular file; nothing at all to mount
/// or verify. The error names the module's row. Pure apart from the trees.
[[nodiscard]] Result<Composition> compose(const std::string& profile, const std::string& root,
                                          const std::vector<Module>& modules);

}  // namespace bk::manifest
