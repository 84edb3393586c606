#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.h"
#include "ran.h"

using namespace bk;
using namespace bk::test;

TEST_CASE("what repair lost is said wherever sums are, and where it was all") {
  const std::string broken = kFixtures + "25-trace-invalid-json/bare-words.json";
  for (const cli::Args& args : {cli::Args{broken, "--diff", broken}, cli::Args{"ranks", broken, broken}}) {
    cli::Args repaired = args;
    repaired.emplace_back("--repair");
    CHECK(run_census(repaired).out.find("2 events read, 1 places lost") != std::string::npos);
  }
  TempDir dir;
  const std::string bad = (dir.path() / "bad.json").string();
  for (const auto& [dur, says] : {std::pair("-1", "1 places were lost"), std::pair("{}", "no start or no duration")}) {
    REQUIRE(write_file_atomic(bad, std::string(R"([{"ph":"X","cat":"kernel","name":"k","ts":0,"dur":)") + dur + "}]"));
    const Ran ran = run_census({bad, "--repair"});
    CHECK(ran.code == 3);
    CHECK(ran.err.find(says) != std::string::npos);
  }
}

TEST_CASE("a diff says that steps are unknown or differ in kind") {
  const Ran unknown = run_census({kVllm, "--diff", kToy});
  CHECK(unknown.out.find("steps are unknown") != std::string::npos);
  const Json same = json_of({kToy, "--diff", kToy});
  CHECK(row_of(same["groups"], "group", "gemm")["count_changed"].as_string() == "");
  const Ran differ = run_census({kToy, "--diff", kVllm, "--step", "argmax"});
  CHECK(differ.out.find("a step of a is one kernel") != std::string::npos);
  CHECK(run_census({kToy, "--diff", kToy, "--after", "x"}).code == 2);
}

TEST_CASE("a page has the notes of its table") {
  TempDir dir;
  const std::string page = (dir.path() / "page.html").string();
  REQUIRE(run_census({kVllm, "--html", page}).code == 0);
  CHECK(read_file(page).value().find("544 kernels (3609.525 us) start outside the annotated steps") !=
        std::string::npos);
  const std::string none = (dir.path() / "none.html").string();
  CHECK(run_census({kVllm, "--html", none, "--after", "["}).code == 2);
  CHECK_FALSE(std::filesystem::exists(none));
}

TEST_CASE("pages and slices go into a pipe, which stays one") {
  TempDir dir;
  const std::string pipe = (dir.path() / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int fd = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(fd >= 0);
  constexpr int kRoom = 1 << 20;  // for all of it: nobody reads meanwhile
  REQUIRE(fcntl(fd, F_SETPIPE_SZ, kRoom) >= kRoom);
  std::string bytes(kRoom, '\0');
  for (const char* flag : {"--html", "--perfetto"}) {
    CAPTURE(flag);
    CHECK(run_census({kToy, "--step", "argmax", flag, pipe}).code == 0);
    CHECK(std::filesystem::is_fifo(pipe));
    CHECK(read(fd, bytes.data(), bytes.size()) > 1000);
  }
  close(fd);
}

TEST_CASE("a slice is made of a file alone") {
  TempDir dir;
  const Ran ran = run_census({"/dev/null", "--perfetto", (dir.path() / "slice").string()});
  CHECK(ran.code == 2);
  CHECK(ran.err.find("has to be a file (/dev/null)") != std::string::npos);
}

TEST_CASE("names cannot command the terminal") {
  TempDir dir;
  const std::string path = (dir.path() / "trace.json").string();
  const std::string event = R"({"ph":"X","cat":"kernel","name":"\u001b[2Jred\nline","ts":0,"dur":1},)";
  REQUIRE(write_file_atomic(path, "[" + event + event));
  const Ran ran = run_census({path, "--step", "red"});
  CHECK(ran.out.find('\x1b') == std::string::npos);
  CHECK(ran.out.find("steps: 2, one kernel  [2Jred line\n") != std::string::npos);
}
