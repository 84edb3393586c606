#pragma once
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"

namespace bk::cli {

/// Where a program writes: data to `out`, progress, warnings and errors to `err`.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  std::vector<std::string> secrets = {};  ///< replaced by "***" in the error line; read_connection() fills it
};

using Args = std::vector<std::string>;  ///< the command line without the program's name

/// A program's body. An error that it returns is printed and turned into an exit code by run_with().
using Run = std::function<Result<ExitCode>(Streams&, const Args&)>;

/// Runs the body; an error becomes one line on `err`, "name: error: what (where)", without line breaks and secrets.
/// An exception of a third party is reported the same way (3). What is still buffered in `out` is flushed, and a flush
/// that fails (a full disk, a closed pipe) is an error too. Gives the exit code. For tests; main() calls run_main().
[[nodiscard]] int run_with(const std::string& name, Streams& streams, const Args& args, const Run& run);

/// run_with() over stdout, stderr and argv: `int main(int argc, char** argv) { return run_main("x", argc, argv, run);
/// }`.
[[nodiscard]] int run_main(const std::string& name, int argc, char** argv, const Run& run);

}  // namespace bk::cli
