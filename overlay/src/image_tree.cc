#include "image_tree.h"

#include "base/process.h"
#include "base/text.h"
#include "boot/container.h"
#include "hex.h"

namespace bk::overlay {
namespace {

using manifest::Node;
using manifest::NodeKind;

/// A line for each path: its kind, and of a file its bytes in hex. Package roots and targets hold no blanks.
constexpr const char* kScript =
    "while IFS= read -r path; do "
    "if [ -L \"$path\" ]; then echo \"link $path\"; "
    "elif [ -d \"$path\" ]; then echo \"folder $path\"; "
    "elif [ -f \"$path\" ]; then echo \"file $path $(od -An -v -tx1 -- \"$path\" | tr -d ' \\n')\"; "
    "elif [ -e \"$path\" ]; then echo \"other $path\"; "
    "else echo \"absent $path\"; fi; done";

NodeKind kind_of_word(std::string_view word) {
  if (word == "link") return NodeKind::kSymlink;
  if (word == "folder") return NodeKind::kDirectory;
  if (word == "file") return NodeKind::kFile;
  return word == "absent" ? NodeKind::kAbsent : NodeKind::kOther;
}

}  // namespace

std::set<std::string> look_paths(const std::set<std::string>& wanted) {
  std::set<std::string> paths = wanted;
  for (const std::string& path : wanted) {
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
      paths.insert(path.substr(0, end));
    }
  }
  return paths;
}

Result<std::unique_ptr<ImageTree>> ImageTree::open(boot::Runtime cli, const std::string& image, const std::string& root,
                                                   const std::set<std::string>& wanted) {
  const auto paths = look_paths(wanted);
  std::string input = root + "\n";
  for (const std::string& path : paths) input += root + "/" + path + "\n";
  const auto argv = boot::throwaway_argv(cli, image, kScript);
  const auto ran = run_captured({argv, {}, "", ""}, 300 * kSecond, input);
  if (!ran) return fail(Errc::kEnvironment, ran.error().what, argv.front());
  if (ran->exit.ok()) return read(image, root, paths, ran->out);
  return fail(Errc::kEnvironment, "a container of the image cannot be run: " + boot::complaint(ran->err),
              argv.front() + " " + image);
}

Result<std::unique_ptr<ImageTree>> ImageTree::read(const std::string& image, const std::string& root,
                                                   const std::set<std::string>& paths, const std::string& out) {
  auto tree = std::make_unique<ImageTree>();
  tree->image_ = image;
  bool has_root = false;
  for (const std::string_view line : split_lines(out)) {
    const auto words = split(line, ' ');
    if (words.size() < 2) continue;
    const NodeKind kind = kind_of_word(words[0]);
    if (words[1] == root) has_root = kind == NodeKind::kDirectory;
    if (!words[1].starts_with(root + "/")) continue;
    const std::string path(words[1].substr(root.size() + 1));
    tree->nodes_[path] = kind;
    if (kind != NodeKind::kFile) continue;
    auto bytes = words.size() == 3 ? from_hex(words[2]) : std::nullopt;
    if (!bytes) return fail(Errc::kParse, "the image's file came cut", path);
    tree->bytes_[path] = std::move(*bytes);
  }
  if (!has_root) return fail(Errc::kEnvironment, "the image has no folder " + root, image);
  for (const std::string& path : paths) {
    if (!tree->nodes_.contains(path)) return fail(Errc::kParse, "the image said nothing of a file", path);
  }
  return tree;
}

Result<Node> ImageTree::look(const std::string& path) const {
  return manifest::walk(path, [this](const std::string& part) -> Result<NodeKind> {
    const auto node = nodes_.find(part);
    return node == nodes_.end() ? NodeKind::kAbsent : node->second;
  });
}

Result<std::string> ImageTree::read(const std::string& path) const {
  const auto found = bytes_.find(path);
  if (found == bytes_.end()) return fail(Errc::kIo, "no such file was read from " + name(), path);
  return found->second;
}

}  // namespace bk::overlay
