#include "kept.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/file.h"

namespace bk::supervisor {
namespace {

std::set<std::string> names_in(const std::filesystem::path& dir) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("room is made for one more of ten, and the logs of one boot's ranks go together") {
  const TempDir dir;
  const std::filesystem::path logs = dir.path() / "logs";
  REQUIRE(make_room(logs));
  CHECK(names_in(logs).empty());
  for (const char digit : std::string("0123456789")) {
    for (const char* rank : {"", ".rank1", ".rank10"}) {
      REQUIRE(write_file_atomic(logs / (std::string("engine-") + digit + ".log" + rank), "x"));
    }
  }
  REQUIRE(make_room(logs));
  const auto left = names_in(logs);
  CHECK(left.size() == 27);
  CHECK_FALSE(left.contains("engine-0.log.rank10"));
  CHECK(left.contains("engine-1.log"));
  REQUIRE(make_room(logs));
  CHECK(names_in(logs) == left);

  const std::filesystem::path folders = dir.path() / "forensics";
  for (const char letter : std::string("abcdefghijklm")) {
    REQUIRE(make_directories(folders / std::string(1, letter)));
    REQUIRE(write_file_atomic(folders / std::string(1, letter) / "reason.txt", "x"));
  }
  REQUIRE(make_room(folders));
  CHECK(names_in(folders) == std::set<std::string>{"e", "f", "g", "h", "i", "j", "k", "l", "m"});
}

TEST_CASE("the last lines of a text") {
  CHECK(last_lines("", 2).empty());
  CHECK(last_lines("a\nb\nc\n", 2) == "b\nc\n");
  CHECK(last_lines("a\nb", 2) == "a\nb\n");
}

}  // namespace bk::supervisor
