#include "core.h"

#include <catch2/catch.hpp>

#include "world.h"

namespace bk::supervisor {
namespace {

using test::Meeting;
using test::World;

const Rules kRules;

const Detection& detection(const std::vector<Detection>& all, const std::string& start) {
  for (const Detection& each : all) {
    if (each.what.rfind(start, 0) == 0) return each;
  }
  FAIL("no detection starts with " << start);
  return all.front();
}

/// From the fault at `at` to the decision of the second launch.
Nanos detected_after(World& world, Nanos at) {
  world.run(2, at + 100'000 * kSecond);
  REQUIRE(world.launches.size() == 2);
  return world.launches[1] - at;
}

/// When the n-th probe of an engine that answers at once ends (from 1).
Nanos nth_probe(int n) { return 60 * kSecond + n * kRules.health_every; }

/// No pause before launches, so that the second launch is the decision.
Rules without_pause() {
  Rules rules;
  rules.pause_first = 0;
  return rules;
}

struct Fault {
  const char* what;
  Meeting meets;
};

}  // namespace

TEST_CASE("each fault of a probe is seen in exactly the time that the rules imply, at worst") {
  const Rules rules = without_pause();
  for (const Fault& fault : {Fault{"port closed", {0, false}}, Fault{"no answer at all", {rules.models_limit, false}},
                             Fault{"lists its model", {rules.chat_limit, false}}}) {
    const Nanos limit = detection(detections(rules), fault.what).at_most;
    const Nanos worst_at = nth_probe(40) + 1;
    Nanos longest = 0;
    for (Nanos at = worst_at; at < worst_at + rules.health_every; at += 500 * kMillisecond) {
      World world(rules, false);
      world.meet = [&](Nanos t) { return t >= at ? fault.meets : Meeting{}; };
      longest = std::max(longest, detected_after(world, at));
      CHECK(world.reasons[1] == "3 probes failed in a row: no answer");
    }
    INFO(fault.what);
    CHECK(longest == limit - 1);
  }
  CHECK(detection(detections(rules), "lists its model").at_most == 990 * kSecond);
}

TEST_CASE("a wedge is seen although the probes generate tokens all the while") {
  const Rules rules = without_pause();
  const Nanos limit = detection(detections(rules), "wedged").at_most;
  CHECK(limit == 930 * kSecond);
  Nanos longest = 0;
  const Nanos first = nth_probe(20) + 1;
  for (Nanos at = first; at < first + rules.health_every; at += 500 * kMillisecond) {
    World world(rules, false);
    world.running = [](Nanos) { return 3.0; };
    world.foreign_tokens = [&](Nanos t) { return 50 * to_s(std::min(t, at)); };
    longest = std::max(longest, detected_after(world, at));
    CHECK(world.reasons[1] == "wedged: 3 requests run and no token came in 30 cycles");
    // The rule as it was written, "the counter does not move", never held: each probe moved it.
    for (std::size_t i = 1; i < world.readings.size(); ++i) REQUIRE(world.readings[i] > world.readings[i - 1]);
  }
  CHECK(longest == limit - 1);
}

TEST_CASE("what looks like a wedge and is none starts no launch") {
  struct Row {
    const char* what;
    std::function<double(Nanos)> running, tokens;
    bool metrics;
  };
  const auto zero = [](Nanos) { return 0.0; };
  const auto three = [](Nanos) { return 3.0; };
  for (const Row& row : {
           Row{"idle", zero, zero, true},
           Row{"one token in 14 minutes", three, [](Nanos t) { return double(t / (840 * kSecond)); }, true},
           Row{"the counter starts again", three, [](Nanos t) { return 1e6 - double(t / (600 * kSecond)) * 1e3; },
               true},
           Row{"no metrics page", three, zero, false},
       }) {
    INFO(row.what);
    World world(kRules, false);
    world.running = row.running;
    world.foreign_tokens = row.tokens;
    world.metrics = row.metrics;
    world.run(2, 20'000 * kSecond);
    CHECK(world.launches.size() == 1);
    if (!row.metrics) CHECK(world.events.back() == "no metrics page: a wedged engine cannot be seen");
  }
}

TEST_CASE("an ingest of 430K tokens that blocks new requests for 170 s is no fault") {
  World world(kRules, false);
  world.meet = [](Nanos t) { return Meeting{t / (400 * kSecond) % 2 == 0 ? 170 * kSecond : 0, true}; };
  world.running = [](Nanos) { return 1.0; };
  world.foreign_tokens = [](Nanos t) { return double(t / (400 * kSecond)); };
  world.run(2, 50'000 * kSecond);
  CHECK(world.launches.size() == 1);
  for (const std::string& event : world.events) CHECK(event.find("failed") == std::string::npos);
}

TEST_CASE("an engine that answers now and then is launched again within its bound") {
  const Rules rules = without_pause();
  World world(rules, false);
  int probes = 0;
  world.meet = [&](Nanos) { return ++probes % 2 == 0 ? Meeting{rules.chat_limit, false} : Meeting{}; };
  const Nanos took = detected_after(world, 60 * kSecond);
  CHECK(took == detection(detections(rules), "answers now and then").at_most);
  CHECK(world.reasons[1] == "5 of the last 10 probes failed: no answer");

  World rare(rules, false);
  probes = 0;
  rare.meet = [&](Nanos) { return ++probes % 5 < 2 ? Meeting{rules.models_limit, false} : Meeting{}; };
  rare.run(2, 50'000 * kSecond);
  CHECK(rare.launches.size() == 1);
}

TEST_CASE("launches without a stable time between are spaced: doubling, to a bound") {
  World world(kRules, false);
  world.boots = [](int) { return false; };
  world.run(9, 100'000 * kSecond);
  REQUIRE(world.launches.size() == 9);
  std::vector<Nanos> pauses;
  for (std::size_t i = 1; i < 9; ++i)
    pauses.push_back((world.launches[i] - world.launches[i - 1] - world.boot) / kSecond);
  CHECK(pauses == std::vector<Nanos>{30, 60, 120, 240, 480, 900, 900, 900});
  CHECK(std::count(world.forensics.begin(), world.forensics.end(), true) == 0);
  CHECK(std::count(world.events.begin(), world.events.end(), "launch failed: the engine died") == 9);
  CHECK(std::count(world.events.begin(), world.events.end(),
                   "flapping: 3 launches without 1800 s of health; the next one in 120 s") == 1);
}

TEST_CASE("a failed probe, which reads no metrics, says nothing of wedges") {
  World world(kRules, false);
  world.metrics = false;
  world.meet = [](Nanos) { return Meeting{0, false}; };
  world.run(2, 1000 * kSecond);
  for (const std::string& event : world.events) CHECK(event.find("wedged") == std::string::npos);
}

TEST_CASE("after a stable time the next launch comes at once") {
  for (const bool stable : {true, false}) {
    const Nanos at = stable ? 2000 * kSecond : 1500 * kSecond;
    World world(kRules, false);
    world.meet = [&](Nanos t) { return Meeting{0, t < at}; };
    world.run(2, 10'000 * kSecond);
    REQUIRE(world.launches.size() == 2);
    const Nanos decided = world.probe_ends.back();
    CHECK(world.launches[1] - decided == (stable ? 0 : 30 * kSecond));
    CHECK(world.forensics == std::vector<bool>{false, true});
  }
}

TEST_CASE("a process that ends is launched again without waiting for probes") {
  World world(without_pause(), false);
  world.run(1, 100 * kSecond);
  world.run(2, 200 * kSecond);
  REQUIRE(world.launches.size() == 1);
  world.core.gone(world.now, "ended by signal 9");
  CHECK(std::string(world.core.state()) == "wait_fleet");
  const Nanos at = world.now;
  world.run(2, 10'000 * kSecond);
  REQUIRE(world.launches.size() == 2);
  CHECK(world.launches[1] == at);
  CHECK(world.reasons[1] == "the engine is gone");
  world.core.gone(world.now, "again");
  World booting(kRules, false);
  booting.core.gone(0, "not ours yet");
  CHECK(booting.core.take_events().empty());
}

TEST_CASE("the fleet is waited for, and an engine that is healthy is adopted, once, at the start") {
  World world(kRules, true);
  world.engine_there = true;
  world.fleet_up = [](Nanos t) { return t >= 35 * kSecond; };
  world.meet = [](Nanos t) { return Meeting{0, t < 500 * kSecond}; };
  world.run(1, 10'000 * kSecond);
  REQUIRE(world.launches.size() == 1);
  CHECK(world.events[0] == "waiting for the fleet: node 2 is down");
  CHECK(world.events[1] == "the fleet is up");
  CHECK(world.events[2] == "adopted the engine that is running; its knobs are not proved");
  CHECK(world.probe_ends.front() == 40 * kSecond + kRules.health_every);
  CHECK(world.reasons[0] == "3 probes failed in a row: no answer");

  World fresh(kRules, true);
  fresh.run(1, 10 * kSecond);
  CHECK(fresh.reasons == std::vector<std::string>{"no engine is running"});
}

TEST_CASE("an idle engine's cache is reset once a day in its hour, after a second look") {
  const auto hour = [](Nanos t) { return static_cast<int>(t / (3600 * kSecond) % 24); };
  World world(kRules, false);
  world.hour = hour;
  world.run(2, 3 * 86400 * kSecond);
  REQUIRE(world.resets.size() == 3);
  for (std::size_t day = 0; day < 3; ++day) {
    const Nanos into = world.resets[day] - static_cast<Nanos>(day) * 86400 * kSecond;
    CHECK(into >= 4 * 3600 * kSecond + kRules.reset_gap);
    CHECK(into <= 4 * 3600 * kSecond + kRules.reset_gap + kRules.health_every);
  }

  World busy(kRules, false);
  busy.hour = hour;
  busy.running = [](Nanos t) { return t % (20 * kSecond) == 0 ? 0.0 : 1.0; };
  busy.foreign_tokens = [](Nanos t) { return to_s(t); };
  busy.run(2, 86400 * kSecond);
  CHECK(busy.launches.size() == 1);
  for (const Nanos at : busy.resets) CHECK(at % (20 * kSecond) == 0);

  Rules never;
  never.reset_hour.reset();
  World off(never, false);
  off.hour = hour;
  off.run(2, 86400 * kSecond);
  CHECK(off.resets.empty());
}

TEST_CASE("a time scale shortens durations alike, no count, and leaves an answer a second") {
  CHECK(scaled(kRules, 60).models_limit == kSecond);
  CHECK(scaled(kRules, 1000).chat_limit == kSecond);
  const Rules fast = scaled(kRules, 5);
  CHECK(fast.health_every == 6 * kSecond);
  CHECK(fast.chat_limit == 60 * kSecond);
  CHECK(fast.failures == 3);
  const auto slow_all = detections(kRules), fast_all = detections(fast);
  for (std::size_t i = 0; i < slow_all.size(); ++i) {
    if (slow_all[i].what == "process gone") continue;
    CHECK(fast_all[i].at_most == slow_all[i].at_most / 5);
  }
}

}  // namespace bk::supervisor
