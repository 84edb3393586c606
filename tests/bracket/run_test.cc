#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "bracket/bench.h"
#include "store/store.h"
#include "support/sim_engine.h"

using namespace bk;
using bracket_tool::Bench;
using bracket_tool::json_of;

TEST_CASE("a bracket on the embedded engine: run, show, list, sign, guard", "[bracket][program]") {
  const Bench bench;
  const Captured ran = bench.run({"run", "--profile", "test", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1", "--boots",
                                  "5", "--quick", "--json"});
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  const Json doc = json_of(ran);
  CHECK(doc["state"].as_string() == "done");
  CHECK(doc["axis"].as_string() == "GATEFUSE 0 -> 1");
  REQUIRE(doc["boots"].items().size() == 5);
  for (const Json& boot : doc["boots"].items()) {
    CHECK(boot["state"].as_string() == "done");
    CHECK(boot["samples"].as_int() == 3);
    CHECK(*boot["median"].as_double() > 100);
    CHECK(*boot["acceptance_raw"].as_double() > 0.05);
    CHECK(boot["gates"].items()[0]["verdict"].as_string() == "pass");
  }
  CHECK(doc["boots"].items()[1]["arm"].as_string() == "cand");
  CHECK(doc["assessment"]["boots"].as_int() == 5);
  CHECK(doc["assessment"]["raw"]["df"].as_double() == 2.0);
  CHECK_FALSE(doc["assessment"]["equal_acceptance"]["effect_pct"].is_null());
  CHECK(ran.err.find("plan: GATEFUSE 0 -> 1") != std::string::npos);
  CHECK(ran.err.find("boot 5/5 base") != std::string::npos);

  const std::string uid = *doc["uid"].as_string();
  const Captured shown = bench.run({"show", uid.substr(0, 8)});
  CHECK(shown.exit.code == 0);
  CHECK(shown.out.find("GATEFUSE held in 5 of 5 boots") != std::string::npos);
  CHECK(shown.out.find("at equal acceptance") != std::string::npos);
  CHECK(shown.out.find("next ") != std::string::npos);
  const Json list = json_of(bench.run({"list", "--json"}));
  REQUIRE(list["rows"].items().size() == 1);
  CHECK(list["rows"].items()[0]["boots_done"].as_int() == 5);

  CHECK(bench.run({"verdict", uid, "splendid", "--by", "Kim", "--reason", "x"}).exit.code == 2);
  const std::string state = *doc["assessment"]["state"].as_string();
  if (state == "better") {
    const Captured against = bench.run({"verdict", uid, "rejected", "--by", "Kim", "--reason", "costs memory"});
    CHECK(against.exit.code == 2);
    CHECK(against.err.find("--override") != std::string::npos);
  }
  const Captured signed_off = bench.run(
      {"verdict", uid, "rejected", "--by", "Kim", "--reason", "costs memory", "--override", "memory counts more"});
  CHECK(signed_off.exit.code == 0);
  CHECK(bench.run({"show", uid}).out.find("rejected by Kim: costs memory") != std::string::npos);

  const Captured again = bench.bracket("test", 2);
  CHECK(again.exit.code == 2);
  CHECK(again.err.find("rejected by Kim") != std::string::npos);
  const Captured reopened = bench.bracket("test", 2, {"--reopen", "memory doubled"});
  CHECK(reopened.exit.code == 0);
  CHECK(json_of(reopened)["assessment"]["reason"].as_string() == "arm_not_told_from_drift");
  CHECK(reopened.err.find("latest boots") != std::string::npos);  // the time is known by now
}

TEST_CASE("base, candidate, base completes and says that it cannot judge", "[bracket][program]") {
  const Bench bench;
  const Captured ran = bench.bracket("test", 3);
  REQUIRE(ran.exit.code == 0);
  const Json doc = json_of(ran);
  CHECK(doc["assessment"]["state"].as_string() == "inconclusive");
  CHECK(doc["assessment"]["reason"].as_string() == "no_degrees_of_freedom");
  CHECK(*doc["assessment"]["boots_needed"].as_int() >= 5);
  CHECK(doc["historical"]["verdict"].as_string() != "not_a_bracket");
}

TEST_CASE("what may not be used is void, by real runs", "[bracket][program]") {
  struct Row {
    std::string name, more, flag, lines, reason;
    std::size_t boots;
  };
  const std::string set = "--knob GATEFUSE={VALUE}";
  const Row rows[] = {
      {"not-taken", "", set, "GATEFUSE.flag.1=\"--knob GATEFUSE=0\"\n", "proof_failed", 2},
      {"equal", "", set, "GATEFUSE.flag.0=\"--knob GATEFUSE=1\"\n", "base_equals_cand", 1},
      {"two", "", set, "GATEFUSE.flag.1=\"--knob GATEFUSE=1 --knob NULLKNOB=1\"\n", "two_knobs_differ", 2},
      {"restart", "--fault restart=4", set, "", "engine_restarted", 1},
      {"cut", "--fault cut=9", set, "", "failed_requests", 1},
  };
  const Bench bench;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    bench.write_profile(row.name, row.more, row.flag, row.lines);
    const Captured ran = bench.bracket(row.name);
    INFO(ran.err);
    CHECK(ran.exit.code == 5);
    const Json doc = json_of(ran);
    CHECK(doc["state"].as_string() == "void");
    CHECK(doc["assessment"]["reason"].as_string() == row.reason);
    CHECK(doc["boots"].items().size() == row.boots);
    CHECK(doc["boots"].items().back()["state"].as_string() == "void");
    const Captured resumed = bench.run({"resume", *doc["uid"].as_string(), "--profile", row.name});
    CHECK(resumed.exit.code == 2);
  }
}

TEST_CASE("an interrupted bracket is resumed where it stopped, and only as it was planned", "[bracket][program]") {
  const Bench bench;
  auto started = Process::start([&] {
    Command c = bench.command({"run", "--profile", "test", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1", "--boots",
                               "3", "--reps", "8", "--tokens", "64", "--no-gate"});
    c.output_file = bench.dir() / "out";
    return c;
  }());
  REQUIRE(started);
  // Two boots are finished when the third begins.
  SystemClock clock;
  const Nanos limit = clock.now() + 60 * kSecond;
  const auto third_began = [&] {
    return read_file(bench.dir() / "out").value_or("").find("boot 3/3 base · decode") != std::string::npos;
  };
  while (!third_began() && clock.now() < limit && !started->poll()) clock.sleep_until(clock.now() + 10 * kMillisecond);
  REQUIRE(third_began());
  auto database = store::Database::open(bench.db());
  REQUIRE(database);
  const Captured second = bench.run({"resume", database->list_brackets().value().at(0).bracket.uid});
  CHECK(second.exit.code == 2);
  CHECK_THAT(second.err, Catch::Contains(fmt::format("is being run by pid {} since", started->pid())));
  ::kill(started->pid(), SIGKILL);
  CHECK(started->wait().code == 128 + SIGKILL);

  const auto brackets = database->list_brackets();
  REQUIRE(brackets);
  REQUIRE(brackets->size() == 1);
  CHECK((*brackets)[0].boots_done == 2);
  const std::string uid = (*brackets)[0].bracket.uid;

  // Another value of a knob in the environment is another configuration.
  Command changed = bench.command({"resume", uid});
  changed.env.emplace("NULLKNOB", "1");
  const auto refused = run_captured(changed, 60 * kSecond);
  REQUIRE(refused);
  CHECK(refused->exit.code == 2);
  CHECK(refused->err.find("NULLKNOB") != std::string::npos);

  const Captured resumed = bench.run({"resume", uid.substr(0, 8), "--json"});
  INFO(resumed.err);
  REQUIRE(resumed.exit.code == 0);
  CHECK(resumed.err.find("boot 1/3") == std::string::npos);
  const Json doc = json_of(resumed);
  CHECK(doc["state"].as_string() == "done");
  const auto& boots = doc["boots"].items();
  REQUIRE(boots.size() == 4);  // the one that was killed is kept, and run again
  CHECK(boots[2]["state"].as_string() == "interrupted");
  CHECK(boots[3]["attempt"].as_int() == 1);
  CHECK(boots[3]["samples"].as_int() == 8);
  CHECK(bench.run({"resume", uid}).exit.code == 2);  // nothing is left
}

TEST_CASE("SIGINT keeps what is finished, stops the engine and exits 130", "[bracket][program]") {
  const Bench bench;
  auto started = Process::start([&] {
    Command c = bench.command({"run", "--profile", "test", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1", "--reps",
                               "50", "--tokens", "64", "--no-gate"});
    c.output_file = bench.dir() / "out";
    return c;
  }());
  REQUIRE(started);
  SystemClock clock;
  const Nanos limit = clock.now() + 60 * kSecond;
  const auto measuring = [&] {
    return read_file(bench.dir() / "out").value_or("").find("decode C=1") != std::string::npos;
  };
  while (!measuring() && clock.now() < limit && !started->poll()) clock.sleep_until(clock.now() + 10 * kMillisecond);
  ::kill(started->pid(), SIGINT);
  CHECK(started->wait().code == 130);
  const std::string text = read_file(bench.dir() / "out").value_or("");
  CHECK(text.find("go on with: bracket resume") != std::string::npos);
  const Json list = json_of(bench.run({"list", "--json"}));
  CHECK(list["rows"].items()[0]["state"].as_string() == "interrupted");
}

TEST_CASE("an engine that cannot be booted or dies ends with one line and exit 3", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("missing", "", "--knob GATEFUSE={VALUE}");
  REQUIRE(write_file_atomic(bench.dir() / "missing.env",
                            "COMMAND=\"{BIN}/no-such-engine --port {PORT}\"\n"
                            "GATEFUSE=0\nGATEFUSE.values=\"0 1\"\nGATEFUSE.flag=\"-g {VALUE}\"\n"));
  const Captured missing = bench.bracket("missing");
  INFO(missing.err);
  CHECK(missing.exit.code == 3);
  CHECK(missing.out.empty());
  CHECK(missing.err.find("bracket: error: ") != std::string::npos);
  CHECK(missing.err.find("bracket resume") != std::string::npos);

  bench.write_profile("dies", "--fault die=4", "--knob GATEFUSE={VALUE}");
  const Captured dies = bench.bracket("dies");
  INFO(dies.err);
  CHECK(dies.exit.code == 3);
  CHECK(dies.err.find("the engine died") != std::string::npos);

  CHECK(bench.bracket("nowhere").exit.code == 2);
  CHECK(bench.run({"run", "--profile", "test", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=9"}).exit.code == 2);
  const Captured dry =
      bench.run({"run", "--profile", "test", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1", "--dry-run"});
  CHECK(dry.exit.code == 0);
  CHECK(dry.out.find("plan: GATEFUSE 0 -> 1 on profile test; 3 boots: base cand base") != std::string::npos);
}

TEST_CASE("others on the machine void a leg where the profile bounds them, and are named with the bound", "[bracket]") {
  const Bench bench;
  const auto run_with = [&](const std::string& lines) {
    bench.write_profile("shared", "", "--knob GATEFUSE={VALUE}", lines);
    return bench.run({"run", "--profile", "shared", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1", "--boots", "2",
                      "--reps", "1", "--tokens", "16", "--no-gate", "--json"});
  };
  CHECK(run_with("").exit.code == 0);
  CHECK(run_with("FOREIGN_LOAD_MAX=1\n").exit.code == 0);

  const pid_t busy = fork();
  if (busy == 0) {
    for (volatile unsigned turns = 0;;) turns = turns + 1;
  }
  REQUIRE(busy > 0);
  const Captured disturbed = run_with("FOREIGN_LOAD_MAX=0.001\n");
  kill(busy, SIGKILL);
  waitpid(busy, nullptr, 0);
  INFO(disturbed.err);
  CHECK(disturbed.exit.code == 5);
  const Json assessment = json_of(disturbed)["assessment"];
  CHECK(assessment["reason"].as_string() == "foreign_load");
  const std::string sentence = assessment["sentence"].as_string().value_or("");
  CHECK(sentence.find("more than the profile's 0 % (FOREIGN_LOAD_MAX): stop them, or raise it.") != std::string::npos);
}

TEST_CASE("a leg on a GPU that heat holds down is void; what the machine was like stands in the leg's row",
          "[bracket]") {
  const Bench bench;
  const TempDir tools;
  const std::string smi = tools.path() / "nvidia-smi";
  const auto with_mask = [&](const std::string& mask) {
    REQUIRE(write_file_atomic(smi, "#!/bin/sh\necho '0, 1410, 88, 310.5, " + mask + "'\n"));
    std::filesystem::permissions(smi, std::filesystem::perms::owner_all);
    Command command = bench.command({"run", "--profile", "test", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1",
                                     "--boots", "2", "--reps", "1", "--tokens", "16", "--no-gate", "--json"});
    command.env["PATH"] = tools.path().string() + ":/usr/bin:/bin";
    auto ran = run_captured(command, 60 * kSecond);
    REQUIRE(ran);
    return *ran;
  };
  const Captured hot = with_mask("0x0000000000000040");
  CHECK(hot.exit.code == 5);
  CHECK(json_of(hot)["assessment"]["reason"].as_string() == "gpu_throttled");
  const Captured idle = with_mask("0x0000000000000001");
  CHECK(idle.exit.code == 0);
  auto database = store::Database::open(bench.db(), store::OpenMode::kReadOnly);
  REQUIRE(database);
  const auto bracket = database->bracket(*json_of(idle)["uid"].as_string());
  REQUIRE(bracket);
  const auto boots = database->boots(bracket->bracket.id);
  REQUIRE(boots);
  const auto legs = database->legs(boots->front().id);
  REQUIRE(legs);
  REQUIRE(legs->size() == 1);
  const auto plan = parse_json(legs->front().plan_json);
  REQUIRE(plan);
  CHECK((*plan)["machine_before"]["gpus"].items()[0]["sm_mhz"].as_double() == 1410);
}
