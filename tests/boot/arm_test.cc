#include "boot/arm.h"

#include <catch2/catch.hpp>

#include "boot/words.h"

using namespace bk;
using namespace bk::boot;

namespace {

const std::string kText =
    R"(COMMAND="{BIN}/engine --port {PORT} --seed {SEED} --boot {BOOT_INDEX} --dir={ROOT} '--note=a b {NOTE}'"
ENV.CACHE="{ROOT}/cache-{PORT}"
NOTE=plain
NOTE.any=yes
SPEC=none
SPEC.values="none ngram draft"
SPEC.flag="--spec {VALUE}"
SPEC.flag.none=""
SPEC.flag.ngram="--spec-config '{\"method\":\"{VALUE}\",\"k\":{TOKENS}}'"
TOKENS=5
TOKENS.range=1..16
TOKENS.env=ENGINE_TOKENS
UNSET=
UNSET.values="0 1"
UNSET.flag="--unset {VALUE}"
)";

Profile profile() {
  auto parsed = parse_profile(kText, "/r/profiles/p.env", {});
  REQUIRE(parsed);
  return *parsed;
}

Arm arm(const std::string& label, const KnobMap& set) {
  auto made = make_arm(profile(), label, set);
  INFO((made ? std::string() : made.error().text()));
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("knob lists are read whole or refused") {
  CHECK(parse_knobs("GATEFUSE=0,SPEC_TOKENS=5") == KnobMap{{"GATEFUSE", "0"}, {"SPEC_TOKENS", "5"}});
  CHECK(parse_knobs(" A=1 , B=x=y ") == KnobMap{{"A", "1"}, {"B", "x=y"}});
  CHECK(format_knobs({{"B", "2"}, {"A", "1"}}) == "A=1,B=2");
  for (const char* bad : {"", "A", "A=1,", "a=1", "A=1,A=2", "=1", "A B=1", "A=1;B=2,C"}) {
    INFO(bad);
    const auto knobs = parse_knobs(bad);
    REQUIRE_FALSE(knobs);
    CHECK(knobs.error().code == Errc::kUsage);
  }
}

TEST_CASE("an arm refuses unknown knobs, with a suggestion, and values out of bounds") {
  CHECK_THAT(make_arm(profile(), "cand", {{"TOKEN", "5"}}).error().what, Catch::Contains("did you mean TOKENS?"));
  CHECK_THAT(make_arm(profile(), "cand", {{"GATEFUSE", "1"}}).error().what,
             Catch::Contains("it has NOTE, SPEC, TOKENS, UNSET"));
  for (const char* bad : {"0", "17", "05", "5.0", "five", "", "+5"}) {
    INFO(bad);
    CHECK_THAT(make_arm(profile(), "cand", {{"TOKENS", bad}}).error().what,
               Catch::Contains("a whole number from 1 to 16"));
  }
  CHECK_FALSE(make_arm(profile(), "cand", {{"NOTE", "two words"}}));
}

TEST_CASE("exactly one knob differs, set by both arms") {
  CHECK(differing_knob(arm("base", {{"TOKENS", "5"}}), arm("cand", {{"TOKENS", "7"}})).value() == "TOKENS");
  CHECK(differing_knob(arm("base", {{"TOKENS", "5"}, {"SPEC", "ngram"}}),
                       arm("cand", {{"TOKENS", "7"}, {"SPEC", "ngram"}}))
            .value() == "TOKENS");
  struct Row {
    KnobMap base, cand;
    const char* cause;
  };
  const std::vector<Row> table = {
      {{{"TOKENS", "5"}}, {{"TOKENS", "5"}}, "the arms are equal"},
      {{}, {}, "the arms are equal"},
      {{{"TOKENS", "5"}, {"SPEC", "none"}}, {{"TOKENS", "7"}, {"SPEC", "draft"}}, "SPEC and TOKENS differ"},
      {{{"TOKENS", "5"}}, {{"TOKENS", "7"}, {"SPEC", "none"}}, "the cand arm sets SPEC and the base arm does not"},
      {{{"TOKENS", "5"}}, {}, "the base arm sets TOKENS and the cand arm does not"},
  };
  for (const Row& row : table) {
    const auto knob = differing_knob(arm("base", row.base), arm("cand", row.cand));
    REQUIRE_FALSE(knob);
    CHECK(knob.error().code == Errc::kUsage);
    CHECK_THAT(knob.error().text(), Catch::Contains(row.cause) && !Catch::Contains("\n"));
  }
}

TEST_CASE("numbers between bounds that are equal are one value; other text is not read as a number") {
  const auto parsed = parse_profile(
      "COMMAND=engine\nHEAT=0.90\nHEAT.range=0.0..2.0\nHEAT.flag=\"--heat {VALUE}\"\nHEAT.flag.0=\"--cold\"\n"
      "RELEASE=1.1\nRELEASE.values=\"1.1 1.10\"\nRELEASE.env=REL\nTAG=1\nTAG.any=yes\nTAG.env=TAG\n",
      "/r/profiles/p.env", {});
  INFO((parsed ? std::string() : parsed.error().text()));
  REQUIRE(parsed);
  const auto made = [&](const std::string& knob, const std::string& value) {
    const auto arm = make_arm(*parsed, "base", {{knob, value}});
    REQUIRE(arm);
    CHECK(arm->set == KnobMap{{knob, arm->resolved.at(knob)}});
    return *arm;
  };
  struct Row {
    const char *knob, *value, *text;
  };
  const Row rows[] = {{"HEAT", "1e-1", "0.1"},     {"HEAT", "0.1", "0.1"},  {"HEAT", "0.10", "0.1"},
                      {"HEAT", "9e-1", "0.90"},    {"HEAT", "2", "2"},      {"HEAT", "-0", "0"},
                      {"RELEASE", "1.10", "1.10"}, {"TAG", "1e-1", "1e-1"}, {"TAG", "0.1", "0.1"}};
  for (const Row& row : rows) {
    CAPTURE(row.knob, row.value);
    CHECK(made(row.knob, row.value).resolved.at(row.knob) == row.text);
  }
  CHECK_THAT(differing_knob(made("HEAT", "0.1"), made("HEAT", "1e-1")).error().what, Catch::Contains("arms are equal"));
  CHECK(arm_hash(*parsed, made("HEAT", "0.1")) == arm_hash(*parsed, made("HEAT", "1e-1")));
  CHECK(differing_knob(made("RELEASE", "1.1"), made("RELEASE", "1.10")).value() == "RELEASE");
  CHECK(resolve_command(*parsed, made("HEAT", "0.0"), {})->argv == std::vector<std::string>{"engine", "--cold"});
}

TEST_CASE("a template becomes argv and environment word by word") {
  const auto command = resolve_command(profile(), arm("base", {{"NOTE", "x'y"}}), {8123, 42, 3, "/opt/bin", "/r"});
  REQUIRE(command);
  CHECK(command->argv == std::vector<std::string>{"/opt/bin/engine", "--port", "8123", "--seed", "42", "--boot", "3",
                                                  "--dir=/r", "--note=a b x'y"});
  CHECK(command->env == Environment{{"CACHE", "/r/cache-8123"}, {"ENGINE_TOKENS", "5"}});
  CHECK(command->cwd == "/r");
}

TEST_CASE("a flag of one value replaces the general flag, and an unset knob passes nothing") {
  const auto tail = [](const KnobMap& set) {
    const auto command = resolve_command(profile(), arm("base", set), {1, 1, 0, "/b", "/r"});
    REQUIRE(command);
    return std::vector<std::string>(command->argv.begin() + 9, command->argv.end());
  };
  CHECK(tail({{"SPEC", "none"}}).empty());
  CHECK(tail({{"SPEC", "draft"}}) == std::vector<std::string>{"--spec", "draft"});
  CHECK(tail({{"SPEC", "ngram"}, {"TOKENS", "3"}}) ==
        std::vector<std::string>{"--spec-config", "{\"method\":\"ngram\",\"k\":3}"});
  CHECK(tail({{"UNSET", "1"}}) == std::vector<std::string>{"--unset", "1"});
}

TEST_CASE("the arm's hash follows every resolved knob") {
  const Profile p = profile();
  const std::string base = arm_hash(p, arm("base", {{"TOKENS", "5"}}));
  CHECK(arm_hash(p, arm("other label", {})) == base);
  CHECK(arm_hash(p, arm("cand", {{"TOKENS", "7"}})) != base);
}

TEST_CASE("placeholders are capital names in braces and nothing else") {
  CHECK(placeholders("{A} {a} {\"b\":{B_1}} {} {A-B} {{C}}") == std::vector<std::string>{"A", "B_1", "C"});
  CHECK(split_words("  a\t'b  c'\"\" '' d\"e f\"g ").value() == std::vector<std::string>{"a", "b  c", "", "de fg"});
}
