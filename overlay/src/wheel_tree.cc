#include "wheel_tree.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.h"
#include "manifest/path.h"

namespace bk::overlay {
namespace {

using manifest::Node;
using manifest::NodeKind;
using manifest::printable;

constexpr std::size_t kLargestFile = 1U << 30U;

struct Closer {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

/// Why an entry's name may not stand in a wheel; wheels may hold any other character.
std::optional<std::string> name_fault(std::string_view name) {
  if (name.empty()) return "an empty name";
  if (name.front() == '/' || name.find('\\') != std::string_view::npos) return "an absolute name or a backslash";
  for (const std::string_view segment : split(name, '/')) {
    if (segment == ".." || segment == "." || segment.empty()) return "a name with an empty, '.' or '..' segment";
  }
  return {};
}

NodeKind kind_of_type(unsigned int type) {
  if (type == AE_IFREG) return NodeKind::kFile;
  if (type == AE_IFDIR) return NodeKind::kDirectory;
  return type == AE_IFLNK ? NodeKind::kSymlink : NodeKind::kOther;
}

/// Reads a zip entry by entry; every error is of the wheel named.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)), reader_(archive_read_new()) {
    archive_read_support_format_zip_seekable(reader_.get());
  }

  Status open() {
    constexpr std::size_t kBlock = 1U << 20U;
    if (archive_read_open_filename(reader_.get(), path_.c_str(), kBlock) == ARCHIVE_OK) return {};
    return bad(fmt::format("cannot be read as a wheel (zip): {}", reason()));
  }

  /// The next entry; nullptr after the last.
  Result<archive_entry*> next() {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(reader_.get(), &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    if (code != ARCHIVE_OK) return bad(fmt::format("cannot be read as a wheel (zip): {}", reason()));
    return entry;
  }

  Result<std::string> bytes(const std::string& name) {
    std::string out;
    std::array<char, 1U << 16U> buffer{};
    while (true) {
      const la_ssize_t got = archive_read_data(reader_.get(), buffer.data(), buffer.size());
      if (got == 0) return out;
      if (got < 0) return bad(fmt::format("{} is damaged: {}", printable(name), reason()));
      out.append(buffer.data(), static_cast<std::size_t>(got));
      if (out.size() > kLargestFile) return bad(fmt::format("{} is larger than 1 GiB", printable(name)));
    }
  }

  [[nodiscard]] tl::unexpected<Error> bad(std::string what) const { return fail(Errc::kUsage, std::move(what), path_); }

 private:
  [[nodiscard]] std::string reason() const {
    const char* text = archive_error_string(reader_.get());
    return text == nullptr ? "unknown reason" : printable(text);
  }
  std::string path_;
  std::unique_ptr<archive, Closer> reader_;
};

/// The folder of the wheel that stands for the package root, as a prefix: the one of the root's name, or the wheel's
/// own root where packages lie side by side in it. Of two, the one below which a wanted file lies.
std::optional<std::string> root_in(const std::map<std::string, NodeKind>& nodes, const std::string& package,
                                   const std::set<std::string>& wanted) {
  std::vector<std::string> roots;
  if (package != "site-packages" && package != "dist-packages" && !package.empty()) roots.push_back(package + "/");
  roots.emplace_back();
  for (const std::string& root : roots) {
    const auto lies_there = [&](const std::string& target) { return nodes.contains(root + target); };
    if (std::any_of(wanted.begin(), wanted.end(), lies_there)) return root;
  }
  const auto below = nodes.lower_bound(roots.front());
  if (below == nodes.end() || !below->first.starts_with(roots.front())) return {};
  return roots.front();
}

}  // namespace

Result<std::unique_ptr<WheelTree>> WheelTree::open(const std::filesystem::path& path, const std::string& package,
                                                   const std::set<std::string>& wanted) {
  auto tree = std::make_unique<WheelTree>();
  tree->path_ = path;
  Reader reader(path.string());
  BK_TRY(reader.open());
  while (true) {
    BK_ASSIGN(archive_entry * entry, reader.next());
    if (entry == nullptr) break;
    const char* raw = archive_entry_pathname(entry);
    std::string name = raw == nullptr ? "" : raw;
    const bool folder = name.ends_with('/');
    if (folder) name.pop_back();
    if (const auto fault = name_fault(name)) return reader.bad(fmt::format("holds {}: '{}'", *fault, printable(name)));
    const NodeKind kind = folder ? NodeKind::kDirectory : kind_of_type(archive_entry_filetype(entry));
    if (!tree->nodes_.emplace(name, kind).second) return reader.bad(fmt::format("holds {} twice", printable(name)));
    if (archive_entry_is_encrypted(entry) != 0) return reader.bad(fmt::format("{} is encrypted", printable(name)));
    const bool in_package = name.starts_with(package + "/") && wanted.contains(name.substr(package.size() + 1));
    if (kind == NodeKind::kFile && (in_package || wanted.contains(name))) {
      BK_ASSIGN(tree->bytes_[name], reader.bytes(name));
    }
  }
  const auto root = root_in(tree->nodes_, package, wanted);
  if (!root) return reader.bad(fmt::format("holds no package {}", package));
  tree->root_ = *root;
  return tree;
}

NodeKind WheelTree::kind_of(const std::string& target) const {
  const std::string path = root_ + target;
  if (const auto node = nodes_.find(path); node != nodes_.end()) return node->second;
  const std::string below = path + "/";
  const auto child = nodes_.lower_bound(below);
  return child != nodes_.end() && child->first.starts_with(below) ? NodeKind::kDirectory : NodeKind::kAbsent;
}

Result<Node> WheelTree::look(const std::string& path) const {
  return manifest::walk(path, [this](const std::string& part) -> Result<NodeKind> { return kind_of(part); });
}

Result<std::string> WheelTree::read(const std::string& path) const {
  const auto found = bytes_.find(root_ + path);
  if (found == bytes_.end()) return fail(Errc::kIo, "no such file was read from " + name(), path);
  return found->second;
}

}  // namespace bk::overlay
