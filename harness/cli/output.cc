#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace bk::cli {
namespace fs = std::filesystem;

struct Output::File {
  std::ofstream stream;
  fs::path final_path;
  fs::path open_path;  ///< differs from final_path while the file is being written

  ~File() {
    if (open_path == final_path) return;
    stream.close();
    std::error_code ignored;
    fs::remove(open_path, ignored);
  }
};

Output::Output(std::ostream& out) : out_(&out) {}
Output::Output(Output&&) noexcept = default;
Output& Output::operator=(Output&&) noexcept = default;
Output::~Output() = default;

Result<Output> Output::open(Streams& streams, const std::string& path) {
  Output output(streams.out);
  if (path.empty() || path == "-") return output;
  std::error_code error;
  auto file = std::make_unique<File>();
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) return fail(Errc::kIo, "cannot write: it is a directory; name a file", path);
  // A device or a pipe has no name to put a finished file under.
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  file->final_path = fs::weakly_canonical(path, error);
  if (error) file->final_path = path;
  file->open_path = file->final_path;
  if (!in_place) file->open_path += "." + std::to_string(getpid()) + ".part";
  errno = 0;
  file->stream.open(file->open_path, std::ios::binary | std::ios::trunc);
  if (!file->stream) {
    const std::string reason = std::strerror(errno);
    file->open_path = file->final_path;
    return fail(Errc::kIo, "cannot write: " + reason, path);
  }
  output.out_ = &file->stream;
  output.file_ = std::move(file);
  return output;
}

std::ostream& Output::stream() { return *out_; }

Status Output::close() {
  errno = 0;
  out_->flush();
  if (!*out_) {
    // An earlier write failed, and its reason is gone.
    return fail(Errc::kIo,
                std::string("could not write all of it: ") + (errno != 0 ? std::strerror(errno) : "is the disk full?"),
                file_ ? file_->final_path.string() : "standard output");
  }
  if (!file_) return {};
  file_->stream.close();
  if (file_->open_path == file_->final_path) return {};
  std::error_code error;
  fs::rename(file_->open_path, file_->final_path, error);
  if (error) return fail(Errc::kIo, "cannot be put in place: " + error.message(), file_->final_path.string());
  file_->open_path = file_->final_path;
  return {};
}

}  // namespace bk::cli
