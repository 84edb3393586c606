#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"

namespace bk {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

tl::unexpected<Error> io_error(const char* doing, const std::filesystem::path& path) {
  return fail(Errc::kIo, fmt::format("cannot {}: {}", doing, std::strerror(errno)), path.string());
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Hands the file's bytes to `take` in pieces, from `most` bytes before its end on where that is given.
template <class Take>
Status read_pieces(const std::filesystem::path& path, Take take, std::optional<std::size_t> most = {}) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return io_error("open", path);
  if (most) {
    const off_t size = ::lseek(file.get(), 0, SEEK_END);
    const auto back = static_cast<off_t>(*most);
    if (size < 0 || ::lseek(file.get(), size > back ? size - back : 0, SEEK_SET) < 0) return io_error("read", path);
  }
  constexpr std::size_t kPiece = 1 << 16;
  const auto buffer = std::make_unique<char[]>(kPiece);
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer.get(), kPiece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("read", path);
    if (n == 0) return {};
    take(std::string_view(buffer.get(), static_cast<std::size_t>(n)));
  }
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  std::string bytes;
  BK_TRY(read_pieces(path, [&](std::string_view piece) { bytes += piece; }));
  return bytes;
}

Result<std::string> read_tail(const std::filesystem::path& path, std::size_t most) {
  std::string bytes;
  BK_TRY(read_pieces(
      path, [&](std::string_view piece) { bytes += piece; }, most));
  if (bytes.size() > most) bytes.erase(0, bytes.size() - most);  // it grew meanwhile
  return bytes;
}

Result<std::string> sha256_file(const std::filesystem::path& path) {
  Sha256 hash;
  BK_TRY(read_pieces(path, [&](std::string_view piece) { hash.update(piece); }));
  return hash.hex();
}

Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes) {
  struct stat there {};
  // A device or a pipe has no bytes to keep, and a file in its place would be the end of it.
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    const Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!device.ok() || !write_all(device.get(), bytes)) return io_error("write", path);
    return {};
  }
  std::string temporary = path.string() + ".XXXXXX";
  Descriptor file(::mkstemp(temporary.data()));
  if (!file.ok()) return io_error("write", path);
  const bool written = write_all(file.get(), bytes) && ::fchmod(file.get(), 0644) == 0 && ::fsync(file.get()) == 0 &&
                       ::close(file.release()) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    return io_error("write", path);
  }
  return {};
}

Status append_file(const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.ok()) return io_error("open", path);
  if (!write_all(file.get(), bytes)) return io_error("append to", path);
  return {};
}

Status make_directories(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) return fail(Errc::kIo, "cannot create the directory: " + code.message(), path.string());
  return {};
}

TempDir::TempDir() {
  const char* root = std::getenv("TMPDIR");
  std::string name = std::string(root && *root ? root : "/tmp") + "/bk-XXXXXX";
  BK_CHECK(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace bk
