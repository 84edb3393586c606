#include "boot/relation.h"

#include <catch2/catch.hpp>

#include "boot/arm.h"

using namespace bk;
using namespace bk::boot;

namespace {

struct Row {
  const char* rule;
  KnobMap passed;
  bool holds;
};

const std::string kLane =
    "COMMAND=x\nCHUNK=2048\nCHUNK.range=256..32768\nCHUNK.env=CHUNK\n"
    "LOOKUP=49152\nLOOKUP.range=0..1000000\nLOOKUP.env=LOOKUP\n"
    "MODE=plain\nMODE.values='plain fused'\nMODE.env=MODE\n"
    "DEPTH=3\nDEPTH.range=1..9\nDEPTH.env=DEPTH\nDEPTH.when=MODE=fused\n"
    "RULE.lookup='LOOKUP >= 24 * CHUNK'\nRULE.lookup.why='else the engine dies in the middle of a request'\n"
    "RULE.depth='DEPTH <= 2 or MODE != fused'\n";

Profile lane() {
  auto profile = parse_profile(kLane, "p.env", {});
  INFO((profile ? std::string() : profile.error().text()));
  REQUIRE(profile);
  return *profile;
}

}  // namespace

TEST_CASE("a relation between knobs holds or not") {
  for (const Row& row : {
           Row{"A >= 24 * B", {{"A", "49152"}, {"B", "2048"}}, true},
           Row{"A >= 24 * B", {{"A", "49151"}, {"B", "2048"}}, false},
           Row{"A>=24*B", {{"A", "49151"}, {"B", "2048"}}, false},
           Row{"A * B + A <= 256", {{"A", "32"}, {"B", "7"}}, true},
           Row{"A * B + A <= 256", {{"A", "33"}, {"B", "7"}}, false},
           Row{"A = 0 or B = 1", {{"A", "1"}, {"B", "1"}}, true},
           Row{"A = 0 or B = 1", {{"A", "1"}, {"B", "0"}}, false},
           Row{"A = 0 or B = 1 or C = one-shot", {{"A", "1"}, {"B", "0"}, {"C", "one-shot"}}, true},
           Row{"A = upstream", {{"A", "fork"}}, false},
           Row{"A != upstream", {{"A", "fork"}}, true},
           Row{"A = 1.0", {{"A", "1"}}, true},
           Row{"A < 3", {{"A", "3"}}, false},
           Row{"A > 3", {{"A", "3"}}, false},
           Row{"A >= 24 * B", {{"A", "1"}}, true},
           Row{"A >= B", {{"A", "fork"}, {"B", "1"}}, false},
       }) {
    INFO(row.rule);
    const auto relation = parse_relation("r", row.rule);
    INFO((relation ? std::string() : relation.error().text()));
    REQUIRE(relation);
    CHECK(check_relation(*relation, row.passed).has_value() == row.holds);
  }
}

TEST_CASE("what is no relation is refused with its cause") {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "it is empty"},
      {"A", "it ends where one of ="},
      {"A >=", "it ends where a knob or a number is expected"},
      {">= A", "'>=' stands where a knob or a number is expected"},
      {"A B", "'B' stands where one of ="},
      {"A = 1 and B = 2", "'and' stands where 'or' may"},
      {"A = 1 or", "it ends where a knob or a number is expected"},
      {"A < fork", "'fork' is no number"},
      {"A = 2 * fork", "'fork' is no number"},
      {"1 = 1", "names no knob"},
      {"A == 1", "'==' stands where"},
      {"A - 1 = 2", "'-' stands where"},
      {std::string(500, 'A'), "longer than 400 bytes"},
  };
  for (const auto& [text, cause] : table) {
    INFO(text);
    const auto relation = parse_relation("r", text);
    REQUIRE_FALSE(relation);
    CHECK_THAT(relation.error().what, Catch::Contains(cause));
  }
}

TEST_CASE("an arm that breaks a relation is refused before anything boots") {
  const Profile profile = lane();
  CHECK(make_arm(profile, "base", {}));
  CHECK(make_arm(profile, "cand", {{"CHUNK", "8192"}, {"LOOKUP", "196608"}}));
  const auto broken = make_arm(profile, "cand", {{"CHUNK", "8192"}});
  REQUIRE_FALSE(broken);
  CHECK(broken.error().text() ==
        "LOOKUP >= 24 * CHUNK does not hold with LOOKUP=49152, CHUNK=8192: else the engine dies in the middle of a "
        "request (cand arm)");
  CHECK(broken.error().code == Errc::kUsage);
  // DEPTH is passed, and so judged, only while MODE is fused.
  CHECK_FALSE(make_arm(profile, "cand", {{"MODE", "fused"}}));
  CHECK(make_arm(profile, "cand", {{"MODE", "fused"}, {"DEPTH", "2"}}));
}

TEST_CASE("a profile's rules name knobs that it has") {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"RULE.x='CHUNKS > 1'\n", "RULE.x names CHUNKS, which is no knob; did you mean CHUNK?"},
      {"RULE.x='CHUNK >'\n", "RULE.x: it ends where"},
      {"RULE.x.why='because'\n", "RULE.x.why is not understood"},
      {"RULE.x='CHUNK > 1'\nRULE.x.because='so'\n", "RULE.x.because is not understood"},
      {"RULE=1\n", "RULE is reserved"},
  };
  for (const auto& [text, cause] : table) {
    INFO(text);
    const auto profile = parse_profile(kLane + text, "p.env", {});
    REQUIRE_FALSE(profile);
    CHECK_THAT(profile.error().text(), Catch::Contains(cause));
  }
}
