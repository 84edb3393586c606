#include "boot/profile.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "boot/arm.h"

using namespace bk;
using namespace bk::boot;

namespace {

const std::string kGood = R"(# a profile
MODEL=tiny
COMMAND="engine --port {PORT} --model ${MODEL} --json '{\"k\":{SPEC_TOKENS}}'"
SERVED_MODEL=${MODEL}
READY_TIMEOUT_S=2.5   # seconds
ENV.OMP_NUM_THREADS=1
SPEC_TOKENS=5
SPEC_TOKENS.range=1..16
SPEC_TOKENS.proof='log: k={VALUE}'
GATEFUSE=
GATEFUSE.values="0 1"
GATEFUSE.env=ENGINE_GATEFUSE
GATEFUSE.flag.1="--fused --level {SPEC_TOKENS}"
)";

Profile parse(const std::string& text, const Environment& caller = {}) {
  auto profile = parse_profile(text, "p.env", caller);
  INFO((profile ? std::string() : profile.error().text()));
  REQUIRE(profile);
  return *profile;
}

struct Bad {
  const char* text;
  const char* cause;
  const char* where;
};

const std::string kKnob = "COMMAND=x\nK=1\nK.values='0 1'\nK.env=E\n";

}  // namespace

TEST_CASE("a profile's settings, variables, knobs and quotes are read") {
  const Profile profile = parse(kGood);
  CHECK(profile.name == "p");
  CHECK(profile.command == "engine --port {PORT} --model tiny --json '{\"k\":{SPEC_TOKENS}}'");
  CHECK(profile.served_model == "tiny");
  CHECK(profile.ready_timeout_s == 2.5);
  CHECK(profile.env == Environment{{"OMP_NUM_THREADS", "1"}});
  REQUIRE(profile.knob_names() == std::vector<std::string>{"SPEC_TOKENS", "GATEFUSE"});
  CHECK(profile.find("SPEC_TOKENS")->value == "5");
  CHECK(profile.find("GATEFUSE")->value.empty());
  CHECK(profile.find("SPEC_TOKENS")->proof.text == "k={VALUE}");
}

TEST_CASE("quotes, continuation and comments follow the shell's subset") {
  struct Row {
    const char* written;
    const char* value;
  };
  for (const Row& row : {Row{"a#b", "a#b"}, Row{"a # b", "a"}, Row{"\"a # b\"", "a # b"}, Row{"'$x `y`'", "$x `y`"},
                         Row{"a'b c'\"d\"", "ab cd"}, Row{"\"\\\"\\\\\\$\"", "\"\\$"}, Row{"", ""},
                         Row{"  # only a comment", ""}, Row{"\"one \\\ntwo\"", "one two"}}) {
    INFO(row.written);
    const Profile profile = parse("COMMAND=x\nHELP=" + std::string(row.written) + "\n");
    CHECK(profile.help == row.value);
  }
}

TEST_CASE("every way to break the format names the row and the cause") {
  const std::vector<Bad> table = {
      {"", "no COMMAND", "p.env"},
      {"COMMAND=\n", "COMMAND is empty", "p.env:1"},
      {"COMMAND=x\nCOMMAND=y\n", "COMMAND is set twice: rows 1 and 2", "p.env:2"},
      {"COMMAND=x\n\n# c\nHOST=a\nHOST=a\n", "HOST is set twice: rows 4 and 5", "p.env:5"},
      {"COMMAND=x\r\n", "carriage return", "p.env:1"},
      {"\xEF\xBB\xBF"
       "COMMAND=x\n",
       "byte order mark", "p.env:1"},
      {"COMMAND=x\nHELP='\x01'\n", "control character 0x01", "p.env:2"},
      {"COMMAND=\xff\n", "not UTF-8", "p.env"},
      {"export COMMAND=x\n", "remove 'export'", "p.env:1"},
      {"COMMAND =x\n", "blank before '='", "p.env:1"},
      {"COMMAND= x\n", "blank after '='", "p.env:1"},
      {"COMMAND\n", "no '=' after COMMAND", "p.env:1"},
      {"COMMAND=x\nCOMMAND+=y\n", "'+=' is not understood", "p.env:2"},
      {"command=x\n", "starts with a capital letter", "p.env:1"},
      {"=x\n", "starts with a capital letter", "p.env:1"},
      {"CO-MMAND=x\n", "'-' cannot stand in a key", "p.env:1"},
      {"K..values=x\n", "a key part is empty", "p.env:1"},
      {"COMMAND=x y\n", "text after the value of COMMAND", "p.env:1"},
      {"COMMAND='x\n", "single quote is not closed", "p.env:1"},
      {"COMMAND=\"x\n", "double quote is not closed", "p.env:1"},
      {"COMMAND=\"x 'y\"\n", "a single quote is not closed", "p.env:1"},
      {"COMMAND=$(reboot)\n", "no command is executed", "p.env:1"},
      {"COMMAND=\"`reboot`\"\n", "no command is executed", "p.env:1"},
      {"COMMAND=`reboot`\n", "needs single quotes", "p.env:1"},
      {"COMMAND=x;reboot\n", "';' needs single quotes", "p.env:1"},
      {"COMMAND=x\\y\n", "'\\' needs single quotes", "p.env:1"},
      {"COMMAND=$HOME/x\n", "'$' must start ${NAME}", "p.env:1"},
      {"COMMAND=${HOME}/x\n", "${HOME} is set by no earlier line", "p.env:1"},
      {"COMMAND=${COMMAND}\n", "is set by no earlier line", "p.env:1"},
      {"COMMAND=${A:-x}\n", "${A:-x} is not understood", "p.env:1"},
      {"COMMAND=${A\n", "'${' is not closed", "p.env:1"},
      {"COMMAND=x\nREADY_TIMEOUT=5\n", "did you mean READY_TIMEOUT_S?", "p.env:2"},
      {"COMMAND=x\nSOMETHING=5\n", "SOMETHING is no setting", "p.env:2"},
      {"COMMAND=x\nPORT=0\n", "PORT is a whole number from 1 to 65535", "p.env:2"},
      {"COMMAND=x\nPORT=70000\n", "PORT is a whole number from 1 to 65535", "p.env:2"},
      {"COMMAND=x\nMAX_MODEL_LEN=4k\n", "MAX_MODEL_LEN is a whole number", "p.env:2"},
      {"COMMAND=x\nREADY_TIMEOUT_S=-1\n", "READY_TIMEOUT_S is seconds", "p.env:2"},
      {"COMMAND=x\nREADY_TIMEOUT_S=nan\n", "READY_TIMEOUT_S is seconds", "p.env:2"},
      {"COMMAND=x\nHOST=http://h\n", "HOST is a name or an address", "p.env:2"},
      {"COMMAND=x\nMETRICS=metrics\n", "METRICS is a path", "p.env:2"},
      {"COMMAND=x\nAPI_KEY_ENV='sk-1 2'\n", "never the key itself", "p.env:2"},
      {"COMMAND=x\nVERSION_LOG='(('\n", "no regular expression", "p.env:2"},
      {"COMMAND=x\nSEED=1\n", "SEED is reserved", "p.env:2"},
      {"COMMAND=x\nPORT.values=1\n", "PORT is reserved", "p.env:2"},
      {"COMMAND=x\nENV.=1\n", "a key part is empty", "p.env:2"},
      {"COMMAND=x\nENV.A-B=1\n", "'A-B' is no name of a variable", "p.env:2"},
      {"COMMAND=x\nK.values='0 1'\n", "K has no default", "p.env:2"},
      {"COMMAND=x\nK.values='0 1'\nK=1\n", "K has no default", "p.env:2"},
      {"COMMAND=x\nK=1\nK.env=E\n", "K needs exactly one of", "p.env:2"},
      {"COMMAND=x\nK=1\nK.values='0 1'\n", "K never reaches the engine", "p.env:2"},
      {"COMMAND=x\nK=2\nK.values='0 1'\nK.env=E\n", "K=2 is not allowed: K takes one of 0, 1", "p.env:2"},
      {"COMMAND=x\nK=07\nK.range=1..9\nK.env=E\n", "K takes a whole number from 1 to 9", "p.env:2"},
      {"COMMAND=x\nK=1\nK.values='1 1'\nK.env=E\n", "K.values lists 1 twice", "p.env:3"},
      {"COMMAND=x\nK=1\nK.values=''\nK.env=E\n", "K.values lists nothing", "p.env:3"},
      {"COMMAND=x\nK=1\nK.range=9\nK.env=E\n", "a range is MIN..MAX", "p.env:3"},
      {"COMMAND=x\nK=1\nK.range=9..1\nK.env=E\n", "the range 9..1 is empty", "p.env:3"},
      {"COMMAND=x\nK=\nK.under=models\nK.env=E\n", "K.under is an absolute folder", "p.env:3"},
      {"COMMAND=x\nK=/models/a\nK.under=/models\nK.any=yes\nK.env=E\n", "K needs exactly one of", "p.env:2"},
      {"COMMAND=x\nK=/models/../etc\nK.under=/models\nK.env=E\n", "K takes a path below /models", "p.env:2"},
      {"COMMAND=x\nK=/modelsX/a\nK.under=/models\nK.env=E\n", "K takes a path below /models", "p.env:2"},
      {"COMMAND=x\nK='/models/a b'\nK.under=/models\nK.env=E\n", "K takes a path below /models", "p.env:2"},
      {"COMMAND=x\nK=/models/\nK.under=/models\nK.env=E\n", "K takes a path below /models", "p.env:2"},
      {"COMMAND=x\nK=1\nK.any=no\nK.env=E\n", "K.any is 'yes' or absent", "p.env:3"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.flag=--k\n", "K.flag holds no {VALUE}", "p.env:4"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env='A B'\n", "K.env names one variable", "p.env:4"},
      {"COMMAND=x\nK=1\nK.values='0 1'\nK.flag.2=--two\n", "K=2 is not allowed", "p.env:2"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.prof='log: x={VALUE}'\n", "did you mean K.proof?", "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.proof='see x'\n", "a proof starts with log:", "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.proof='log:'\n", "nothing after 'log:'", "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.proof='log: on'\n", "holds no {VALUE}", "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.proof='log: ({VALUE}'\n", "no regular expression", "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.proof='log: K=^{VALUE}'\n", "no line of a log can match", "p.env:5"},
      {"COMMAND=x\nK=1\nK.values='0 1'\nK.env=E\nK.proof.0='log: on'\nK.proof.1='log: on'\n",
       "K.proof.0 and K.proof.1 are the same: nothing would tell the two apart", "p.env:2"},
      {"COMMAND=x\nK=a\nK.values='a b,c'\nK.env=E\nK.proof='log: K={VALUE}'\n", "K.proof cannot read the value b,c",
       "p.env:2"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.proof='json: props a.b'\n", "a json proof is '/path member.member'",
       "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nK.proof.1='environ: A'\n",
       "the proof of one value is log: or metric:", "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nL=1\nL.any=yes\nL.env=E\n", "the variable E of L is set by K too",
       "p.env:5"},
      {"COMMAND=x\nENV.E=1\nK=1\nK.any=yes\nK.env=E\n", "is set by ENV.E too", "p.env:3"},
      {"COMMAND='x {SPEC_TOKEN}'\nSPEC_TOKENS=1\nSPEC_TOKENS.any=yes\nSPEC_TOKENS.env=E\n",
       "did you mean {SPEC_TOKENS}?", "p.env:1"},
      {"COMMAND='x {VALUE}'\n", "{VALUE} is no knob", "p.env:1"},
      {"K=1\nCOMMAND=\"x ${K}\"\nK.any=yes\n", "K is a knob: write {K}", "p.env:2"},
      {"COMMAND=x\nEXTRA_ENV=A\n", "entry 1 of EXTRA_ENV is no KEY=VALUE", "p.env:2"},
      {"COMMAND=x\nEXTRA_ENV='A=1 secret B=2'\n", "entry 2 of EXTRA_ENV is no KEY=VALUE", "p.env:2"},
      {"COMMAND=x\nEXTRA_ENV='A=1\tB=2'\n", "the value of A in EXTRA_ENV holds a control character", "p.env:2"},
      {"COMMAND=x\nHF_TOKEN=1\nHF_TOKEN.any=yes\nHF_TOKEN.env=E\n", "a knob's value is stored and shown", "p.env:2"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=MY_API_KEY\n", "a knob's value is stored and shown", "p.env:2"},
      {"COMMAND=x\nEXTRA_ENV='A=1,B=2'\n", "separate entries by blanks, not commas", "p.env:2"},
      {"COMMAND=x\nEXTRA_ENV='A=1 A=2'\n", "EXTRA_ENV names A twice", "p.env:2"},
      {"COMMAND=x\nENV.A=1\nEXTRA_ENV='A=2'\n", "which the profile declares (ENV.A in row 2)", "p.env:3"},
      {"COMMAND=x\nAPI_KEY_ENV=A\nEXTRA_ENV='A=2'\n", "which the profile declares (API_KEY_ENV in row 2)", "p.env:3"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nEXTRA_ENV='E=2'\n", "which the profile declares (K.env in row 4)",
       "p.env:5"},
      {"COMMAND=x\nK=1\nK.any=yes\nK.env=E\nEXTRA_ENV='K=2'\n", "which the profile declares (K in row 2)", "p.env:5"},
  };
  for (const Bad& bad : table) {
    INFO(bad.text);
    const auto profile = parse_profile(bad.text, "p.env", {});
    REQUIRE_FALSE(profile);
    CHECK(profile.error().code == Errc::kUsage);
    CHECK_THAT(profile.error().what, Catch::Contains(bad.cause));
    CHECK(profile.error().where == bad.where);
    CHECK(profile.error().text().find('\n') == std::string::npos);
    CHECK(profile.error().text().find("secret") == std::string::npos);
  }
}

TEST_CASE("a profile's name is one that containers, folders and lock files can have") {
  for (const char* good : {"p.env", "a/qwen3.8.env", "/x/y/DSV4_b-2.env"})
    CHECK(parse_profile("COMMAND=x\n", good, {}));
  for (const char* bad : {"...env", "a b.env", "-p.env", ".p.env", ".env", "a;reboot.env", "$(x).env", "ü.env",
                          "a\nb.env", "a\tb.env", ""}) {
    const auto profile = parse_profile("COMMAND=x\n", bad, {});
    INFO(bad);
    REQUIRE_FALSE(profile);
    CHECK(profile.error().code == Errc::kUsage);
    CHECK_THAT(profile.error().what, Catch::Contains("rename its file"));
    CHECK(profile.error().text().find('\n') == std::string::npos);
  }
}

TEST_CASE("a NUL byte and an oversized profile are refused") {
  CHECK_THAT(parse_profile(std::string("COMMAND=x\nHELP='a\0b'\n", 20), "p.env", {}).error().what,
             Catch::Contains("0x00"));
  CHECK_THAT(parse_profile(std::string((1U << 20U) + 1, '#'), "p.env", {}).error().what, Catch::Contains("1 MiB"));
}

TEST_CASE("the caller's environment beats a knob's default and nothing else") {
  const Environment caller = {{"K", "0"}, {"HOST", "build-host"}, {"COMMAND", "evil"}, {"E", "7"}};
  const Profile profile = parse(kKnob, caller);
  CHECK(profile.command == "x");
  CHECK(profile.host == "127.0.0.1");
  CHECK(profile.find("K")->value == "0");
  CHECK(profile.find("K")->from_caller);
  const auto refused = parse_profile(kKnob, "p.env", {{"K", "9"}});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("K=9 is not allowed") && Catch::Contains("from the environment"));
}

TEST_CASE("EXTRA_ENV comes from the caller before the profile and keeps commas inside values") {
  const std::string text = "COMMAND=x\nEXTRA_ENV='A=1'\n";
  CHECK(parse(text).env == Environment{{"A", "1"}});
  CHECK(parse(text, {{"EXTRA_ENV", "DEVICES=0,1  B=x=y"}}).env == Environment{{"DEVICES", "0,1"}, {"B", "x=y"}});
  const auto refused = parse_profile(kKnob, "p.env", {{"EXTRA_ENV", "E=1"}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().where == "EXTRA_ENV of the environment");
}

TEST_CASE("the hash follows what shapes a boot and not how the file is written") {
  const std::string hash = profile_hash(parse(kKnob));
  CHECK(hash.size() == 64);
  CHECK(profile_hash(parse("# comment\n\nCOMMAND='x'\nK=1\nK.values='0   1'\nK.env=E\n")) == hash);
  CHECK(profile_hash(parse(kKnob + "K.help=words\n")) == hash);
  CHECK(profile_hash(parse(kKnob, {{"K", "1"}})) == hash);
  for (const std::string& changed : {std::string("COMMAND=y\nK=1\nK.values='0 1'\nK.env=E\n"),
                                     std::string("COMMAND=x\nK=0\nK.values='0 1'\nK.env=E\n"), kKnob + "ENV.X=1\n",
                                     kKnob + "K.proof='log: {VALUE}'\n", kKnob + "MAX_MODEL_LEN=9\n"}) {
    CHECK(profile_hash(parse(changed)) != hash);
  }
  CHECK(profile_hash(parse(kKnob, {{"K", "0"}})) != hash);
}

TEST_CASE("a missing profile names those that exist") {
  const TempDir dir;
  REQUIRE(write_file_atomic(dir.path() / "sim.env", kKnob));
  REQUIRE(write_file_atomic(dir.path() / "vllm.env", kKnob));
  REQUIRE(load_profile("sim", dir.path(), {}));
  REQUIRE(load_profile((dir.path() / "sim.env").string(), "/nowhere", {}));
  CHECK_THAT(load_profile("simm", dir.path(), {}).error().what, Catch::Contains("did you mean sim?"));
  CHECK_THAT(load_profile("other-engine", dir.path(), {}).error().what, Catch::Contains("there are sim, vllm"));
  CHECK(load_profile("x", dir.path(), {}).error().code == Errc::kUsage);
}

TEST_CASE("every shipped profile parses, and all its knobs can be proved") {
  for (const char* name : {"sim", "sim-dsv4", "llama-cpp"}) {
    INFO(name);
    const auto profile = load_profile(name, std::string(BK_SOURCE_DIR) + "/profiles", {});
    INFO((profile ? std::string() : profile.error().text()));
    REQUIRE(profile);
    CHECK(profile->knobs.size() >= 3);
    for (const Knob& knob : profile->knobs) {
      INFO(knob.name);
      CHECK_FALSE(knob.help.empty());
      CHECK((knob.proof.kind != ProofRule::Kind::kNone || !knob.proof_for.empty()));
    }
    const auto arm = make_arm(*profile, "base", {});
    REQUIRE(arm);
    CHECK(resolve_command(*profile, *arm, {8000, 1, 0, "/bin", "/root"}));
  }
}
