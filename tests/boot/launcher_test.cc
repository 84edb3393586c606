#include "boot/launcher.h"

#include <fmt/format.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/metrics_client.h"
#include "http/transport.h"

using namespace bk;
using namespace bk::boot;

namespace {

const std::string kKey = "sk-very-secret-4711";
const std::string kSim = std::string(BK_SOURCE_DIR) + "/profiles/sim.env";

Profile from_text(const std::string& text, const TempDir& dir) {
  auto profile = parse_profile(text, (dir.path() / "profiles/p.env").string(), {});
  INFO((profile ? std::string() : profile.error().text()));
  REQUIRE(profile);
  return *profile;
}

/// A profile whose engine is a shell script: for engines that never serve.
Profile script(const std::string& commands, const TempDir& dir, const std::string& more = "") {
  return from_text("COMMAND=\"/bin/sh -c '" + commands + "' sh {PORT}\"\nREADY_TIMEOUT_S=20\nSTOP_GRACE_S=0.3\n" + more,
                   dir);
}

Result<std::unique_ptr<Booted>> launch(const Profile& profile, const TempDir& dir, const KnobMap& knobs = {},
                                       LaunchOptions options = {}) {
  options.log_file = dir.path() / "logs/engine.log";
  options.bin_dir = BK_BIN_DIR;
  BK_ASSIGN(const Arm arm, make_arm(profile, "base", knobs));
  return make_process_launcher()->boot(profile, arm, options);
}

Profile load(const std::string& path) {
  auto profile = load_profile(path, ".", {});
  INFO((profile ? std::string() : profile.error().text()));
  REQUIRE(profile);
  return *profile;
}

}  // namespace

TEST_CASE("the embedded engine boots, proves every knob, and frees its port") {
  const TempDir dir;
  auto booted = launch(load(kSim), dir, {{"GATEFUSE", "1"}, {"SPEC_TOKENS", "3"}});
  INFO((booted ? std::string() : booted.error().text()));
  REQUIRE(booted);
  const BootFacts& facts = (*booted)->facts();
  CHECK(facts.endpoint.model == "deepseek-v4-flash");
  CHECK(facts.boot_s > 0);
  CHECK((*booted)->alive());
  REQUIRE(facts.proofs.size() == load(kSim).knobs.size());
  for (const Proof& proof : facts.proofs) {
    INFO(proof.knob << ": " << proof.reason << " " << proof.evidence);
    CHECK(proof.ok);
  }
  CHECK(facts.proof_of("GATEFUSE")->evidence == "proof GATEFUSE=1");
  CHECK(facts.confirmed.at("SPEC_TOKENS") == "3");
  CHECK(facts.proof_of("NO_SUCH") == nullptr);
  const auto transport = http::make_curl_transport();
  CHECK(engine::fetch_counters(*transport, facts.endpoint));
  CHECK(facts.fingerprint["profile"].as_string() == "sim");
  CHECK(facts.fingerprint["knobs"]["GATEFUSE"].as_string() == "1");
  CHECK(facts.fingerprint["engine_version"].as_string());
  CHECK(facts.fingerprint["image_id"].is_null());
  CHECK(facts.fingerprint["image_id_reason"].as_string() == "no_container");
  CHECK(facts.fingerprint["command"].items().size() == facts.command.size());
  CHECK_FALSE(check_port_free("127.0.0.1", facts.port));
  CHECK((*booted)->stop());
  CHECK(check_port_free("127.0.0.1", facts.port));
  CHECK((*booted)->stop());
}

TEST_CASE("an engine that is killed later gives its signal and its last lines") {
  const TempDir dir;
  auto booted = launch(load(kSim), dir);
  REQUIRE(booted);
  const int port = (*booted)->facts().port;
  REQUIRE(kill((*booted)->facts().pid, SIGKILL) == 0);
  Status alive;
  SystemClock clock;
  for (int i = 0; i < 500 && alive; ++i) {
    clock.sleep_until(clock.now() + 10 * kMillisecond);
    alive = (*booted)->alive();
  }
  REQUIRE_FALSE(alive);
  CHECK(alive.error().code == Errc::kVoid);
  CHECK_THAT(alive.error().what, Catch::Contains("the engine died, ended by signal 9; its last lines: "));
  CHECK((*booted)->stop());
  CHECK(check_port_free("127.0.0.1", port));
}

TEST_CASE("an engine that dies while booting gives its exit code and last lines, of this boot only") {
  const TempDir dir;
  REQUIRE(make_directories(dir.path() / "logs"));
  REQUIRE(write_file_atomic(dir.path() / "logs/engine.log", "line of an older boot\n"));
  const auto booted = launch(script("echo loading; echo out of memory >&2; exit 7", dir), dir);
  REQUIRE_FALSE(booted);
  CHECK(booted.error().code == Errc::kEnvironment);
  CHECK_THAT(booted.error().what,
             Catch::Contains("exit code 7; its last lines: loading | out of memory") && !Catch::Contains("older"));
  CHECK(booted.error().text().find('\n') == std::string::npos);
  CHECK_THAT(launch(script("exit 3", dir), dir).error().what, Catch::Contains("exit code 3; it wrote nothing"));
}

TEST_CASE("an engine that never serves runs into its limit, whatever it does with SIGTERM") {
  const TempDir dir;
  Profile profile = script("trap : TERM; echo still loading; while :; do sleep 0.05; done", dir);
  profile.ready_timeout_s = 0.4;
  const auto booted = launch(profile, dir);
  REQUIRE_FALSE(booted);
  CHECK(booted.error().code == Errc::kTimeout);
  CHECK_THAT(booted.error().what,
             Catch::Contains("no generation after READY_TIMEOUT_S=0.4") && Catch::Contains("still loading"));
}

TEST_CASE("a missing program, a wrong model and a wrong window are named") {
  const TempDir dir;
  const auto missing = launch(from_text("COMMAND=/no/such/engine\nINSTALL='run ./dev engines'\n", dir), dir);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::kEnvironment);
  CHECK_THAT(missing.error().text(), Catch::Contains("No such file") && Catch::Contains("run ./dev engines") &&
                                         Catch::Contains("/no/such/engine"));

  Profile other = load(kSim);
  other.served_model = "deepseek-v3";
  const auto wrong = launch(other, dir);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == Errc::kMismatch);
  CHECK_THAT(wrong.error().what, Catch::Contains("deepseek-v4-flash"));

  Profile window = load(kSim);
  window.max_model_len = 4096;
  const auto narrow = launch(window, dir);
  REQUIRE_FALSE(narrow);
  CHECK(narrow.error().code == Errc::kMismatch);
  CHECK_THAT(narrow.error().what, Catch::Contains("430000 tokens of context, the profile says MAX_MODEL_LEN=4096"));
}

TEST_CASE("a busy port is named with its holder and nothing is started") {
  const TempDir dir;
  auto first = launch(load(kSim), dir);
  REQUIRE(first);
  LaunchOptions options;
  options.port = (*first)->facts().port;
  const auto second = launch(load(kSim), dir, {}, options);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Errc::kEnvironment);
  CHECK_THAT(second.error().what, Catch::Contains(fmt::format("port {} is taken by sim-engine (pid {})", options.port,
                                                              (*first)->facts().pid)));
  CHECK((*first)->alive());
}

TEST_CASE("an interrupt ends the wait") {
  const TempDir dir;
  LaunchOptions options;
  options.interrupted = [] { return true; };
  const auto booted = launch(script("sleep 30", dir), dir, {}, options);
  REQUIRE_FALSE(booted);
  CHECK(booted.error().code == Errc::kInterrupted);
}

TEST_CASE("a key reaches the engine's environment and nothing that is shown") {
  const TempDir dir;
  const Profile profile = script("echo got \\$ENGINE_KEY; exit 1", dir, "API_KEY_ENV=ENGINE_KEY\n");
  LaunchOptions options;
  options.api_key = kKey;
  const auto died = launch(profile, dir, {}, options);
  REQUIRE_FALSE(died);
  CHECK_THAT(died.error().text(), Catch::Contains("got ***") && !Catch::Contains(kKey));

  Profile sim = load(kSim);
  sim.command += " --api-key-env ENGINE_KEY";
  sim.api_key_env = "ENGINE_KEY";
  const auto booted = launch(sim, dir, {}, options);
  INFO((booted ? std::string() : booted.error().text()));
  REQUIRE(booted);
  const BootFacts& facts = (*booted)->facts();
  CHECK(facts.endpoint.api_key == kKey);
  CHECK(facts.fingerprint.dump().find(kKey) == std::string::npos);
  CHECK(join(facts.command, " ").find(kKey) == std::string::npos);
  CHECK(facts.endpoint.describe().find(kKey) == std::string::npos);
  const std::string cmdline = read_file(fmt::format("/proc/{}/cmdline", facts.pid)).value();
  CHECK(cmdline.find(kKey) == std::string::npos);
}

TEST_CASE("a key comes from a variable or from a file") {
  const TempDir dir;
  const std::string file = (dir.path() / "key").string();
  REQUIRE(write_file_atomic(file, kKey + "\n"));
  CHECK(read_key("K", {{"K", "direct"}, {"K_FILE", file}}).value() == "direct");
  CHECK(read_key("K", {{"K_FILE", file}}).value() == kKey);
  CHECK(read_key("K", {}).value().empty());
  CHECK(read_key("K", {{"K_FILE", file + ".absent"}}).error().code == Errc::kIo);
}

TEST_CASE("the real llama.cpp server boots and proves its knobs", "[.engine]") {
  const Profile profile = load(std::string(BK_SOURCE_DIR) + "/profiles/llama-cpp.env");
  if (!read_file(std::string(BK_SOURCE_DIR) + "/.engines/venv/bin/python")) {
    std::cout << "skipped: no real engine is installed; ./dev engines installs it\n";
    return;
  }
  struct Row {
    KnobMap knobs;
    std::size_t proofs;
  };
  for (const Row& row : {Row{{{"SPEC", "ngram"}, {"DRAFT_MAX", "4"}}, 6}, Row{{{"SPEC", "none"}}, 4}}) {
    const TempDir dir;
    auto booted = launch(profile, dir, row.knobs);
    INFO((booted ? std::string() : booted.error().text()));
    REQUIRE(booted);
    const BootFacts& facts = (*booted)->facts();
    CHECK(facts.endpoint.model == "smollm2-135m");
    CHECK(facts.proofs.size() == row.proofs);
    for (const Proof& proof : facts.proofs) {
      INFO(proof.knob << ": " << proof.reason << " " << proof.evidence);
      CHECK(proof.ok);
    }
    CHECK(facts.fingerprint["engine_version"].as_string());
    const auto transport = http::make_curl_transport();
    const auto counters = engine::fetch_counters(*transport, facts.endpoint);
    REQUIRE(counters);
    CHECK(counters->dialect == "llamacpp");
    CHECK(counters->drafts.has_value());
    CHECK((*booted)->stop());
    CHECK(check_port_free("127.0.0.1", facts.port));
  }
}

TEST_CASE("an engine that does not list a further name that clients use is not ready") {
  const TempDir dir;
  const auto line = [](const char* path, const std::string& body) {
    return Json::object().set("path", path).set("at_ms", 0).set("data", body).dump() + "\n";
  };
  REQUIRE(write_file_atomic(
      dir.path() / "script",
      line("/v1/models", R"({"data": [{"id": "big", "aliases": ["short"]}, {"id": "second"}]})") +
          line("/v1/chat/completions",
               R"({"choices": [{"message": {"content": "hello"}}], "usage": {"completion_tokens": 1}})")));
  const auto with = [&](const std::string& aliases) {
    return launch(from_text("COMMAND=\"{BIN}/sim-engine --port {PORT} --script " + (dir.path() / "script").string() +
                                "\"\nREADY_TIMEOUT_S=60\nSERVED_MODEL=big\nSERVED_ALIASES=\"" + aliases + "\"\n",
                            dir),
                  dir);
  };
  for (const char* listed : {"short", "second", "short second"}) {
    const auto booted = with(listed);
    CAPTURE(listed, (booted ? std::string() : booted.error().text()));
    CHECK(booted);
  }
  for (const char* missing : {"shorter", "short shorter"}) {
    const auto refused = with(missing);
    CAPTURE(missing);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::kMismatch);
    CHECK_THAT(refused.error().what, Catch::Contains("the engine serves big but not its alias shorter"));
  }
}
