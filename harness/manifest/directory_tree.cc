#include "manifest/directory_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"

namespace bk::manifest {
namespace fs = std::filesystem;

namespace {

/// A regular file that was reached without following a link: each folder is opened from the one above it, so that a
/// link that takes a name's place between a look and the read is not followed either.
class OpenFile {
 public:
  static Result<OpenFile> below(const fs::path& root, const std::string& path) {
    OpenFile at(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::string_view rest = path;
    for (std::size_t end = rest.find('/'); at.ok() && end != std::string_view::npos; end = rest.find('/')) {
      at = OpenFile(openat(at.fd_, std::string(rest.substr(0, end)).c_str(), O_RDONLY | O_DIRECTORY | kNoLink));
      rest.remove_prefix(end + 1);
    }
    if (at.ok()) at = OpenFile(openat(at.fd_, std::string(rest).c_str(), O_RDONLY | O_NONBLOCK | kNoLink));
    if (!at.ok()) return fail(Errc::kIo, std::strerror(errno), (root / path).string());
    struct stat status {};
    if (fstat(at.fd_, &status) == 0 && S_ISREG(status.st_mode)) return at;
    return fail(Errc::kIo, "it is no regular file", (root / path).string());
  }

  explicit OpenFile(int fd) : fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  static constexpr int kNoLink = O_NOFOLLOW | O_CLOEXEC;
  int fd_;
};

}  // namespace

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

Result<std::string> DirectoryTree::read(const std::string& path) const {
  BK_ASSIGN(const OpenFile file, OpenFile::below(root_, path));
  return read_file(file.path());
}

Result<std::string> DirectoryTree::sha256(const std::string& path) const {
  BK_ASSIGN(const OpenFile file, OpenFile::below(root_, path));
  return sha256_file(file.path());
}

}  // namespace bk::manifest
