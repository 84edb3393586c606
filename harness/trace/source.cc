#include "trace/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include "trace/inflate.h"

namespace bk::trace {
namespace {

constexpr std::size_t kChunk = std::size_t{256} * 1024;
constexpr std::size_t kMagicBytes = 4;

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string bytes, std::size_t piece)
      : bytes_(std::move(bytes)), piece_(std::max<std::size_t>(piece, 1)) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t n = std::min({size, piece_, bytes_.size() - at_});
    std::memcpy(into, bytes_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, bool owned) : fd_(fd), owned_(owned) {
    struct stat info {};
    never_waits_ = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  }
  ~FileSource() override {
    if (owned_) close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<std::size_t> read(char* into, std::size_t size) override {
    for (;;) {
      const ssize_t n = ::read(fd_, into, size);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return fail(Errc::kIo, std::generic_category().message(errno));
    }
  }

  [[nodiscard]] bool never_waits() const override { return never_waits_; }

 private:
  int fd_;
  bool owned_, never_waits_ = false;
};

/// Passes bytes through, or inflates them: the first bytes decide.
class DecodedSource final : public ByteSource {
 public:
  explicit DecodedSource(std::unique_ptr<ByteSource> raw) : raw_(std::move(raw)), held_(kChunk) {}

  Result<std::size_t> read(char* into, std::size_t size) override {
    if (!known_) BK_TRY(detect());
    if (inflater_) return inflate(into, size);
    if (at_ < end_) {
      const std::size_t n = std::min(size, end_ - at_);
      std::memcpy(into, held_.data() + at_, n);
      at_ += n;
      return n;
    }
    return raw_->read(into, size);
  }
  [[nodiscard]] bool never_waits() const override { return raw_->never_waits(); }

 private:
  Status detect() {
    while (end_ < kMagicBytes) {
      BK_ASSIGN(const std::size_t n, raw_->read(held_.data() + end_, held_.size() - end_));
      if (n == 0) break;
      end_ += n;
    }
    known_ = true;
    const std::string_view start(held_.data(), end_);
    if (start.starts_with("\x1f\x8b")) inflater_ = make_inflater();
    if (start.starts_with("\x28\xb5\x2f\xfd")) {
      return fail(Errc::kUnavailable, "a Zstandard file; pipe it through `zstd -dc` and read from -");
    }
    if (start.starts_with("PK\x03\x04")) return fail(Errc::kUnavailable, "a ZIP file; unpack it first");
    return {};
  }

  Status refill() {
    BK_ASSIGN(const std::size_t n, raw_->read(held_.data(), held_.size()));
    at_ = 0;
    end_ = n;
    ended_ = n == 0;
    return {};
  }

  /// Zero bytes may pad a file after its last member; anything else has to be a member.
  Result<bool> more_members() {
    for (;;) {
      while (at_ < end_ && held_[at_] == 0) ++at_, ++consumed_;
      if (at_ < end_) break;
      BK_TRY(refill());
      if (ended_) return false;
    }
    if (held_[at_] != '\x1f') {
      return fail(Errc::kParse, fmt::format("bytes after the last gzip member at compressed byte {}", consumed_));
    }
    inflater_->next_member();
    in_member_ = true;
    return true;
  }

  /// The inflater reads some bytes ahead of what it decodes.
  [[nodiscard]] tl::unexpected<Error> damaged(const char* what) const {
    return fail(Errc::kParse, fmt::format("{} near compressed byte {}", what, consumed_));
  }

  Result<std::size_t> inflate(char* into, std::size_t size) {
    for (;;) {
      if (!in_member_) {
        BK_ASSIGN(const bool more, more_members());
        if (!more) return std::size_t{0};
      }
      const Inflated step = inflater_->step(held_.data() + at_, end_ - at_, into, size);
      at_ += step.consumed;
      consumed_ += step.consumed;
      if (step.damage != nullptr) return damaged(step.damage);
      if (step.member_ended) in_member_ = false;
      if (step.produced > 0) return step.produced;
      if (step.member_ended) continue;
      if (at_ < end_ && step.consumed == 0) return damaged("damaged gzip data");
      if (at_ == end_) BK_TRY(refill());
      if (ended_) return fail(Errc::kParse, fmt::format("the gzip file is cut at compressed byte {}", consumed_));
    }
  }

  std::unique_ptr<ByteSource> raw_;
  std::vector<char> held_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t consumed_ = 0;
  bool known_ = false, ended_ = false, in_member_ = true;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace

std::unique_ptr<ByteSource> memory_source(std::string bytes, std::size_t piece) {
  return std::make_unique<MemorySource>(std::move(bytes), piece);
}

std::unique_ptr<ByteSource> decoded_source(std::unique_ptr<ByteSource> raw) {
  return std::make_unique<DecodedSource>(std::move(raw));
}

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  if (path == "-") return decoded_source(std::make_unique<FileSource>(STDIN_FILENO, false));
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(Errc::kIo, "cannot open the trace: " + std::generic_category().message(errno), path);
  return decoded_source(std::make_unique<FileSource>(fd, true));
}

}  // namespace bk::trace
