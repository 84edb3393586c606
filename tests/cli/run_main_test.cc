#include "cli/run_main.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/file.h"
#include "cli/output.h"
#include "cli/signals.h"

namespace bk::cli {
namespace {

TEST_CASE("every error code has its exit code") {
  const std::vector<std::pair<Errc, int>> cases = {
      {Errc::kUsage, 2},    {Errc::kRefused, 2},      {Errc::kIo, 3},       {Errc::kEnvironment, 3},
      {Errc::kConnect, 3},  {Errc::kTimeout, 3},      {Errc::kHttp, 3},     {Errc::kServer, 3},
      {Errc::kParse, 3},    {Errc::kUnavailable, 3},  {Errc::kInternal, 3}, {Errc::kFailed, 1},
      {Errc::kMismatch, 1}, {Errc::kInconclusive, 4}, {Errc::kVoid, 5},     {Errc::kInterrupted, 130},
  };
  for (const auto& [code, exit_code] : cases) {
    CAPTURE(to_string(code));
    CHECK(static_cast<int>(exit_code_of(code)) == exit_code);
  }
}

TEST_CASE("an error is one line without secrets") {
  std::ostringstream out, err;
  Streams streams{out, err, {"sk-123"}};
  const int code = run_with("tool", streams, {}, [](Streams&, const Args&) -> Result<ExitCode> {
    return fail(Errc::kHttp, "401: bad key sk-123\r\n\n  try again", "http://127.0.0.1:1");
  });
  CHECK(code == 3);
  CHECK(err.str() == "tool: error: 401: bad key ***; try again (http://127.0.0.1:1)\n");
  CHECK(out.str().empty());
}

TEST_CASE("the body's exit code and arguments pass through") {
  std::ostringstream out, err;
  Streams streams{out, err};
  const int code = run_with("tool", streams, {"a", "b"}, [](Streams& s, const Args& args) -> Result<ExitCode> {
    s.out << args.size();
    return ExitCode::kVoid;
  });
  CHECK(code == 5);
  CHECK(out.str() == "2");
  CHECK(err.str().empty());
}

TEST_CASE("a third party's exception is an error line") {
  std::ostringstream out, err;
  Streams streams{out, err};
  CHECK(run_with("tool", streams, {},
                 [](Streams&, const Args&) -> Result<ExitCode> { throw std::runtime_error("odd"); }) == 3);
  CHECK(err.str() == "tool: error: unexpected exception: odd\n");
}

TEST_CASE("a full disk under standard output is not silent") {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  Streams streams{full, err};
  CHECK(run_with("tool", streams, {}, [](Streams& s, const Args&) -> Result<ExitCode> {
          s.out << "data\n";
          return ExitCode::kDone;
        }) == 3);
  CHECK(err.str() == "tool: error: standard output could not be written: is the disk full?\n");
}

TEST_CASE("the first signal raises the flag and the old handlers come back") {
  struct sigaction before {};
  sigaction(SIGTERM, nullptr, &before);
  {
    const InterruptGuard guard;
    CHECK_FALSE(guard.interrupted());
    CHECK(guard.check());
    raise(SIGTERM);
    CHECK(guard.interrupted());
    const auto status = guard.check();
    REQUIRE_FALSE(status);
    CHECK(status.error().code == Errc::kInterrupted);
    CHECK(status.error().what == "interrupted by SIGTERM; what was finished is kept");
  }
  struct sigaction now {};
  sigaction(SIGTERM, nullptr, &now);
  CHECK(now.sa_handler == before.sa_handler);
  const InterruptGuard again;
  CHECK_FALSE(again.interrupted());
}

TEST_CASE("output goes to standard output unless a path is named") {
  std::ostringstream out, err;
  Streams streams{out, err};
  for (const char* path : {"", "-"}) {
    auto output = Output::open(streams, path);
    REQUIRE(output);
    output->stream() << "x";
    CHECK(output->close());
  }
  CHECK(out.str() == "xx");
}

TEST_CASE("a file appears whole, at the end") {
  const TempDir dir;
  std::ostringstream out, err;
  Streams streams{out, err};
  const auto path = dir.path() / "r.json";
  REQUIRE(write_file_atomic(path, "old"));
  {
    auto output = Output::open(streams, path.string());
    REQUIRE(output);
    output->stream() << "half";
    CHECK(read_file(path).value() == "old");
  }
  CHECK(read_file(path).value() == "old");
  auto output = Output::open(streams, path.string());
  REQUIRE(output);
  output->stream() << "new";
  REQUIRE(output->close());
  CHECK(read_file(path).value() == "new");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path())) ++files;
  CHECK(files == 1);
}

TEST_CASE("a path that cannot be written fails at once") {
  const TempDir dir;
  std::ostringstream out, err;
  Streams streams{out, err};
  const std::string missing = (dir.path() / "no" / "r.json").string();
  const auto output = Output::open(streams, missing);
  REQUIRE_FALSE(output);
  CHECK(output.error().code == Errc::kIo);
  CHECK(output.error().text() == "cannot write: No such file or directory (" + missing + ")");
  const auto folder = Output::open(streams, dir.path().string());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().what == "cannot write: it is a directory; name a file");
}

TEST_CASE("a full disk under --out is an error of close") {
  std::ostringstream out, err;
  Streams streams{out, err};
  auto output = Output::open(streams, "/dev/full");
  REQUIRE(output);
  output->stream() << "data";
  const auto closed = output->close();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().text() == "could not write all of it: No space left on device (/dev/full)");
}

}  // namespace
}  // namespace bk::cli
