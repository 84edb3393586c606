#pragma once
#include <memory>
#include <ostream>
#include <string>

#include "base/result.h"
#include "cli/run_main.h"

namespace bk::cli {

/// Where a program's data goes: standard output, or the file of --out. Opened before the run, so that a wrong path
/// fails before anything is measured. The file appears under its name only when close() succeeded; until then the bytes
/// are in a file beside it, so an aborted run leaves the old file as it was.
class Output {
 public:
  /// `path` empty or "-" is standard output. kIo naming the path when it cannot be written.
  static Result<Output> open(Streams& streams, const std::string& path);
  Output(Output&&) noexcept;
  Output& operator=(Output&&) noexcept;
  ~Output();

  [[nodiscard]] std::ostream& stream();
  /// Flushes and puts the file under its name. kIo when bytes could not be written. Call it at the end of the run.
  [[nodiscard]] Status close();

 private:
  struct File;
  explicit Output(std::ostream& out);
  std::ostream* out_;
  std::unique_ptr<File> file_;
};

}  // namespace bk::cli
