#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/run_main.h"

namespace bk::test {

struct Ran {
  int code = 0;
  std::string out, err;
};

/// A program's run() in this process, as its main() would call it.
inline Ran run_in_process(const std::string& name, const cli::Run& run, const cli::Args& args) {
  std::ostringstream out, err;
  cli::Streams streams{out, err};
  const int code = cli::run_with(name, streams, args, run);
  return {code, out.str(), err.str()};
}

/// The same against a server, quiet, with a database that goes when the call ends.
inline Ran run_against(const std::string& url, const std::string& name, const cli::Run& run, const cli::Args& more) {
  const TempDir dir;
  cli::Args args = {"--base-url", url, "--db", (dir.path() / "r.db").string(), "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  return run_in_process(name, run, args);
}

}  // namespace bk::test
