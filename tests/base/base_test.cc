#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/sha256.h"
#include "base/text.h"

using namespace bk;

TEST_CASE("sha256 gives the digests of FIPS 180-4 for any split") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string million(1'000'000, 'a');
  const std::string want = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  for (const std::size_t piece : {1UL, 63UL, 64UL, 65UL, 999'983UL}) {
    Sha256 hash;
    for (std::size_t at = 0; at < million.size(); at += piece) hash.update(std::string_view(million).substr(at, piece));
    CHECK(hash.hex() == want);
  }
}

TEST_CASE("json keeps order, escapes, and writes what is not finite as null") {
  Json doc = Json::object();
  doc.set("b", 1)
      .set("a", "x\"\n\xff")
      .set("n", std::optional<double>())
      .set("inf", 1.0 / 0.0)
      .set("l", std::vector<int>{1, 2});
  CHECK(doc.dump() == "{\"b\":1,\"a\":\"x\\\"\\n\xEF\xBF\xBD\",\"n\":null,\"inf\":null,\"l\":[1,2]}");
  const auto back = parse_json(doc.dump(2));
  REQUIRE(back);
  CHECK(back->dump() == doc.dump());
  CHECK((*back)["l"].items().size() == 2);
  CHECK_FALSE((*back)["absent"]["deeper"].as_int());
  CHECK_FALSE(parse_json("{\"a\":1,}"));
  CHECK_FALSE(parse_json(""));
}

TEST_CASE("numbers are read whole or not at all") {
  CHECK(parse_int("-12") == -12);
  for (const char* bad : {"", " 1", "1 ", "1x", "99999999999999999999", "+1"}) CHECK_FALSE(parse_int(bad));
  CHECK(parse_double("1e3") == 1000.0);
  for (const char* bad : {"", "nan", "inf", "1,5", "1.0 "}) CHECK_FALSE(parse_double(bad));
}

TEST_CASE("a misspelt word finds its neighbour, a foreign one none") {
  CHECK(nearest("GATFUSE", {"GATEFUSE", "REFINE"}) == "GATEFUSE");
  CHECK_FALSE(nearest("XYZ", {"GATEFUSE", "REFINE"}));
}

TEST_CASE("secrets are replaced everywhere") { CHECK(redact("a sk-1 b sk-1", {"sk-1", ""}) == "a *** b ***"); }

TEST_CASE("utf-8 is checked strictly") {
  CHECK(is_utf8("한국어 ok \xF0\x9F\x98\x80"));
  for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xff"})
    CHECK_FALSE(is_utf8(bad));
}

TEST_CASE("a process reports its exit, its output, and why it could not start") {
  const auto echo = run_captured({{"sh", "-c", "cat; echo err >&2; exit 7"}, {}, "", "", false}, 10 * kSecond, "in");
  REQUIRE(echo);
  CHECK(echo->out == "in");
  CHECK(echo->err == "err\n");
  CHECK(echo->exit.code == 7);
  const auto missing = Process::start({{"/no/such/program"}, {}, "", "", false});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::kEnvironment);
  CHECK(missing.error().text().find("/no/such/program") != std::string::npos);
  const auto slow = run_captured({{"sleep", "30"}, {}, "", "", false}, 100 * kMillisecond);
  REQUIRE_FALSE(slow);
  CHECK(slow.error().code == Errc::kTimeout);
}

TEST_CASE("a process that ends without reading its input leaves this one alone") {
  const auto ended = run_captured({{"sh", "-c", "exec <&-; echo done; sleep 0.1; exit 3"}, {}, "", "", false},
                                  10 * kSecond, std::string(std::size_t{1} << 20U, 'x'));
  REQUIRE(ended);
  CHECK(ended->out == "done\n");
  CHECK(ended->exit.code == 3);
}

TEST_CASE("stopping a process ends its whole group, also one that ignores SIGTERM") {
  TempDir dir;
  const std::string log = (dir.path() / "log").string();
  auto process = Process::start({{"sh", "-c", "trap '' TERM; echo $$; sleep 60 & wait; sleep 60"}, {}, "", log, false});
  REQUIRE(process);
  SystemClock clock;  // the trap stands once the shell has written its line
  while (read_file(log).value_or("").empty()) clock.sleep_until(clock.now() + kMillisecond);
  CHECK_FALSE(process->poll());
  CHECK(process->stop(200 * kMillisecond).code == 128 + 9);
}

TEST_CASE("files are written whole or not at all") {
  TempDir dir;
  const auto path = dir.path() / "f";
  REQUIRE(write_file_atomic(path, "one"));
  REQUIRE(write_file_atomic(path, "two"));
  CHECK(read_file(path).value() == "two");
  CHECK_FALSE(write_file_atomic(dir.path() / "no" / "f", "x"));
  CHECK_FALSE(read_file(dir.path() / "none"));
  CHECK(read_tail(path, 0).value().empty());
  CHECK(read_tail(path, 2).value() == "wo");
  CHECK(read_tail(path, 9).value() == "two");
  CHECK_FALSE(read_tail(dir.path() / "none", 9));
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
}

TEST_CASE("a pipe is written to and stays one") {
  TempDir dir;
  const auto path = dir.path() / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  CHECK(write_file_atomic(path, "one"));
  char bytes[8] = {};
  CHECK(::read(reader, bytes, sizeof bytes) == 3);
  ::close(reader);
  CHECK(std::filesystem::is_fifo(path));
}
