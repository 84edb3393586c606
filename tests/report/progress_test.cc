#include "report/progress.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

using namespace bk;
using namespace bk::report;

TEST_CASE("where there is no terminal, progress is plain lines: the first and the last of a label") {
  std::ostringstream out;
  ManualClock clock(5 * kSecond);
  {
    Progress progress(out, {}, clock);
    progress.stage("boot 2/5 cand");
    for (int done = 0; done <= 4; ++done) {
      progress.update("decode C=1", done, 4);
      clock.advance(2 * kSecond);
    }
    progress.say("warning: cached tokens seen");
    progress.update("gate", 1, 1);
  }
  CHECK(out.str() ==
        "boot 2/5 cand\n"
        "boot 2/5 cand · decode C=1 · 0/4\n"
        "boot 2/5 cand · decode C=1 · 4/4 · done in 8.0 s\n"
        "warning: cached tokens seen\n"
        "boot 2/5 cand · gate · 1/1 · done in 0 ms\n");
}

TEST_CASE("a live line is rewritten at most ten times a second and says the time left") {
  std::ostringstream out;
  ManualClock clock;
  Progress progress(out, {true, false, 0}, clock);
  progress.update("decode", 0, 100);
  clock.advance(kSecond);
  progress.update("decode", 1, 100);
  clock.advance(kMillisecond);
  progress.update("decode", 2, 100);  // too soon
  clock.advance(kSecond);
  progress.say("note");
  progress.finish();
  CHECK(out.str() ==
        "\r\x1b[2Kdecode · 0/100"
        "\r\x1b[2Kdecode · 1/100 · 1m 39s left"
        "\r\x1b[2Knote\ndecode · 1/100 · 1m 39s left\n");
}

TEST_CASE("colour only where it is wanted") {
  std::ostringstream out;
  ManualClock clock;
  Progress(out, {true, true, 10}, clock).update("한국어 decode", 0, 2);
  CHECK(out.str() == "\r\x1b[2K\x1b[36m한국어 dec\x1b[0m\n");
}

TEST_CASE("a pipe is not live") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const ProgressStyle style = ProgressStyle::detect(ends[1]);
  CHECK_FALSE(style.live);
  CHECK_FALSE(style.color);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("a terminal is live, without colour when NO_COLOR says so") {
  const int controller = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(controller >= 0);
  REQUIRE(grantpt(controller) == 0);
  REQUIRE(unlockpt(controller) == 0);
  const int terminal = open(ptsname(controller), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  CHECK(ProgressStyle::detect(terminal).live);
  CHECK(ProgressStyle::detect(terminal).color);
  setenv("NO_COLOR", "1", 1);
  CHECK(ProgressStyle::detect(terminal).live);
  CHECK_FALSE(ProgressStyle::detect(terminal).color);
  setenv("TERM", "dumb", 1);
  CHECK_FALSE(ProgressStyle::detect(terminal).live);
  unsetenv("NO_COLOR");
  close(terminal);
  close(controller);
}

TEST_CASE("time left follows the pace") {
  CHECK(seconds_left(10, 5, 20) == 30.0);
  CHECK(seconds_left(10, 20, 20) == 0.0);
  CHECK_FALSE(seconds_left(10, 0, 20));
}
