#include "audit.h"

#include <catch2/catch.hpp>

#include "base/json.h"
#include "lane_fixture.h"

namespace bk::overlay {
namespace {

/// A folder with every sample good, except the one at `broken`.
void write_samples(const TempDir& dir, std::size_t broken) {
  const auto samples = guard_samples();
  std::map<std::string, std::string> files;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    files[samples[i].file] += i == broken ? samples[i].broken : samples[i].good;
  }
  for (const auto& [name, text] : files) {
    REQUIRE(make_directories(dir.path() / "layers"));
    REQUIRE(write_file_atomic(dir.path() / "layers" / name, text));
  }
}

TEST_CASE("the audit knows its rules") {
  CHECK(guard_rules().size() == 7);
  CHECK(audit_self_test());
  CHECK(overlay_program({"audit", "--self-test"}).code == 0);
}

TEST_CASE("good sources pass, each broken guard fails alone, a missing file is unknown and never a pass") {
  const std::size_t count = guard_samples().size();
  for (std::size_t broken = 0; broken <= count; ++broken) {
    const TempDir dir;
    write_samples(dir, broken);
    const Ran ran = overlay_program({"audit", "--root", dir.path().string(), "--json"});
    CHECK(ran.code == (broken < count ? 1 : 0));
    const auto json = parse_json(ran.out);
    REQUIRE(json);
    for (const Json& rule : (*json)["rules"].items()) {
      const bool fails = broken < count && rule["rule"].as_string() == guard_samples()[broken].rule;
      CAPTURE(*rule["rule"].as_string(), *rule["why"].as_string());
      CHECK(rule["status"].as_string() == (fails ? "FAIL" : "PASS"));
    }
  }
  const TempDir dir;
  write_samples(dir, count);
  REQUIRE(std::filesystem::remove(dir.path() / "layers/gumbel.py"));
  const Ran unknown = overlay_program({"audit", "--root", dir.path().string()});
  CHECK(unknown.code == 4);
  CHECK(unknown.out.find("UNKNOWN") != std::string::npos);
  write_samples(dir, 1);
  REQUIRE(std::filesystem::remove(dir.path() / "layers/gumbel.py"));
  CHECK(overlay_program({"audit", "--root", dir.path().string()}).code == 1);
  CHECK(overlay_program({"audit"}).code == 2);
  CHECK(overlay_program({"audit", "--root", (dir.path() / "none").string()}).code == 2);
}

}  // namespace
}  // namespace bk::overlay
