#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "boot/profile.h"
#include "manifest/tree.h"

namespace bk::overlay {

/// A package in a container image, looked at in a throwaway container without mounts: a mount would hide what the image
/// itself holds. Only the wanted files and their folders are known.
class ImageTree final : public manifest::Tree {
 public:
  /// `root` is the package root in the image, absolute; `wanted` are paths below it.
  /// kEnvironment: the command line cannot be run, has no such image, or the image has no shell or no such folder.
  [[nodiscard]] static Result<std::unique_ptr<ImageTree>> open(boot::Runtime cli, const std::string& image,
                                                               const std::string& root,
                                                               const std::set<std::string>& wanted);
  /// The tree of what the look printed for the paths that look_paths() gave. Pure. kParse when it is cut.
  [[nodiscard]] static Result<std::unique_ptr<ImageTree>> read(const std::string& image, const std::string& root,
                                                               const std::set<std::string>& paths,
                                                               const std::string& out);

  [[nodiscard]] std::string name() const override { return "the image " + image_; }
  [[nodiscard]] Result<manifest::Node> look(const std::string& path) const override;
  [[nodiscard]] Result<std::string> read(const std::string& path) const override;

 private:
  std::string image_;
  std::map<std::string, manifest::NodeKind> nodes_;
  std::map<std::string, std::string> bytes_;
};

/// The wanted paths and every folder above them.
[[nodiscard]] std::set<std::string> look_paths(const std::set<std::string>& wanted);

}  // namespace bk::overlay
