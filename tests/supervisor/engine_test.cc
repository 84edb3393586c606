#include <thread>

#include "core.h"
#include "http/transport.h"
#include "supervised.h"

namespace bk::supervisor {
namespace {

using test::Event;
using test::Supervised;

/// What a busy machine may add to any wait.
constexpr double kSlack = 45;

Rules rules_at(double scale) { return scaled(Rules{}, scale); }

std::vector<std::string> flags_at(double scale) { return {"--time-scale", std::to_string(scale)}; }

/// A request that nobody waits for, until the object goes.
class Background {
 public:
  Background(const std::string& url, const Json& body)
      : thread_([this, url, text = body.dump()] {
          const auto transport = http::make_curl_transport();
          http::Request request;
          request.url = url;
          request.headers = {{"Content-Type", "application/json"}};
          request.body = text;
          request.timeouts.total = 300 * kSecond;
          answer_ = http::fetch(*transport, std::move(request));
        }) {}
  ~Background() {
    if (thread_.joinable()) thread_.join();
  }
  http::Response join() {
    thread_.join();
    INFO((answer_ ? std::string() : answer_.error().text()));
    REQUIRE(answer_);
    return *answer_;
  }

 private:
  Result<http::Response> answer_ = fail(Errc::kInternal, "not asked");
  std::thread thread_;
};

Json completion(const std::string& prompt) {
  return Json::object().set("model", "m").set("prompt", prompt).set("max_tokens", 8).set("stream", true);
}

std::string script(const test::Supervised& lane, const std::string& lines) {
  const auto file = lane.dir() / "script.jsonl";
  REQUIRE(write_file_atomic(file, lines));
  return file.string();
}

/// Lines that answer the chats numbered `from`, `from` + `by` … with `members`.
std::string chats(int from, int by, const std::string& members) {
  std::string lines;
  for (int n = from; n < from + 60 * by; n += by) {
    lines += "{\"path\": \"/v1/chat/completions\", \"request\": " + std::to_string(n) + ", " + members + "}\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("an engine that is killed is seen at once, and is launched again after its pause") {
  Supervised lane("", flags_at(60));
  lane.start();
  const Event first = lane.wait_for("launched");
  CHECK(lane.count("knob") == 0);
  const double at = to_s(monotonic_now());
  REQUIRE(kill(lane.engine_pid(), SIGKILL) == 0);
  const Event seen = lane.wait_for("the engine is gone");
  CHECK_THAT(seen.text, Catch::Contains("ended by signal 9"));
  CHECK(seen.at_s - at <= to_s(rules_at(60).watch_every) + kSlack);
  const Event second = lane.wait_for("launching: the engine is gone");
  CHECK(second.at_s - seen.at_s >= to_s(rules_at(60).pause_first));
  CHECK(lane.wait_for("launched", 2).at_s > first.at_s);
  CHECK(lane.count("probe failed") == 0);
}

TEST_CASE("forensics that cannot be kept are named, and do not keep the engine down") {
  Supervised lane("", flags_at(60));
  lane.start();
  lane.wait_for("launched");
  REQUIRE(write_file_atomic(lane.state() / "forensics", "no folder"));
  REQUIRE(kill(lane.engine_pid(), SIGKILL) == 0);
  CHECK_THAT(lane.wait_for("no forensics were kept: ").text, Catch::Contains("forensics"));
  lane.wait_for("launched", 2);
}

TEST_CASE("an engine that stands still is launched again in the time that three probes take") {
  Supervised lane("", flags_at(60));
  lane.start();
  lane.wait_for("launched");
  const double at = to_s(monotonic_now());
  REQUIRE(kill(lane.engine_pid(), SIGSTOP) == 0);
  const Event seen = lane.wait_for("launching: 3 probes failed in a row: /v1/models");
  const Rules rules = rules_at(60);
  CHECK(seen.at_s - at >= to_s(2 * rules.health_every + 3 * rules.models_limit));
  CHECK(seen.at_s - at <= to_s(3 * (rules.health_every + rules.models_limit) + rules.pause_first) + kSlack);
  lane.wait_for("launched", 2);

  const auto forensics = *std::filesystem::directory_iterator(lane.state() / "forensics");
  CHECK_THAT(read_file(forensics.path() / "reason.txt").value(), Catch::Contains("3 probes failed in a row"));
  CHECK_THAT(read_file(forensics.path() / "engine.log").value(), Catch::Contains("proof NULLKNOB=0"));
  CHECK_THAT(read_file(forensics.path() / "process.txt").value(), Catch::Contains("T (stopped)"));
  CHECK_THAT(read_file(forensics.path() / "metrics.txt").value(), Catch::Contains("not read"));
  CHECK_THAT(read_file(forensics.path() / "meminfo.txt").value(), Catch::Contains("MemTotal"));
  CHECK(parse_json(read_file(forensics.path() / "machine.json").value()));
}

TEST_CASE("an engine that lists its model and generates nothing is launched again") {
  Supervised lane("--script {ROOT}/script.jsonl", flags_at(200));
  script(lane, chats(1, 1, "\"at_ms\": 100000000, \"data\": \"late\""));
  lane.start();
  const Event launched = lane.wait_for("launched");
  const Event seen = lane.wait_for("launching: 3 probes failed in a row: the chat");
  const Rules rules = rules_at(200);
  CHECK(rules.chat_limit == from_s(1.5));
  CHECK(seen.at_s - launched.at_s >= to_s(3 * (rules.health_every + rules.chat_limit)));
  CHECK(seen.at_s - launched.at_s <= to_s(3 * (rules.health_every + rules.chat_limit) + rules.pause_first) + kSlack);
}

TEST_CASE("an engine that answers every second chat is launched again after five failures in ten") {
  Supervised lane("--script {ROOT}/script.jsonl", flags_at(60));
  script(lane, chats(1, 2, "\"status\": 503, \"data\": \"busy\""));
  lane.start();
  const Event launched = lane.wait_for("launched");
  const Event seen = lane.wait_for("launching: 5 of the last 9 probes failed: the chat got HTTP 503");
  CHECK(lane.count("healthy again after 1 failed probes") == 4);
  CHECK(seen.at_s - launched.at_s >= to_s(9 * rules_at(60).health_every));
}

TEST_CASE("a wedged engine is launched again although its probes generate") {
  Supervised lane("--script {ROOT}/script.jsonl", flags_at(100));
  script(lane, R"({"path": "/v1/completions", "stream": {"first_ms": 100000000, "every_ms": 1, "events": 1}})"
               "\n");
  lane.start();
  lane.wait_for("launched");
  const double at = to_s(monotonic_now());
  Background stuck(lane.url() + "/v1/completions", completion("never answered"));
  const Event seen = lane.wait_for("launching: wedged: 1 requests run and no token came in 30 cycles");
  const Rules rules = rules_at(100);
  CHECK(seen.at_s - at >= to_s(30 * rules.health_every));
  CHECK(seen.at_s - at <= to_s(31 * rules.health_every + rules.pause_first) + kSlack);
  CHECK(lane.count("probe failed") == 0);
}

TEST_CASE("an ingest of 420K tokens, which blocks the probes' chats, starts no launch") {
  Supervised lane("", flags_at(10));
  lane.start();
  lane.wait_for("launched");
  std::string prompt;
  for (int i = 0; i < 420'000; ++i) prompt += "of ";
  const double at = to_s(monotonic_now());
  const http::Response answer = Background(lane.url() + "/v1/completions", completion(prompt)).join();
  const double took = to_s(monotonic_now()) - at;
  CHECK(answer.status == 200);
  // Longer than three cycles of a port that is dead: the probes did wait, and that was no fault.
  CHECK(took > to_s(3 * rules_at(10).health_every));
  for (const Event& event : lane.events()) CHECK(event.text.find("in a row): the chat") == std::string::npos);
  CHECK(lane.count("launching") == 1);
}

TEST_CASE("an engine that dies again and again is spaced and named") {
  Supervised lane("--fault die=2", flags_at(60));
  lane.start();
  const Event flapping = lane.wait_for("flapping: 2 launches without 30 s of health; the next one in 1 s");
  const Event third = lane.wait_for("launching", 3);
  CHECK(third.at_s - flapping.at_s >= 1);
  lane.wait_for("flapping: 3 launches");
}

TEST_CASE("a boot over its grace fails in that time and is tried again") {
  Supervised lane("--boot-delay 60", flags_at(60), "READY_TIMEOUT_S=60\n");
  lane.start();
  const Event launching = lane.wait_for("launching: no engine is running");
  const Event failed = lane.wait_for("launch failed: no generation after READY_TIMEOUT_S=1");
  CHECK(failed.at_s - launching.at_s >= 1);
  CHECK(failed.at_s - launching.at_s <= 1 + kSlack);
  lane.wait_for("launching: the last launch failed");
}

TEST_CASE("SIGTERM stops the engine and ends with 0, also while it boots") {
  for (const std::string& engine : {std::string(), std::string("--boot-delay 60")}) {
    Supervised lane(engine, flags_at(1));
    lane.start();
    lane.wait_for(engine.empty() ? "launched" : "booting on port");
    REQUIRE(kill(lane.process().pid(), SIGTERM) == 0);
    CHECK(lane.process().wait().code == 0);
    INFO(lane.output());
    CHECK(boot::check_port_free("127.0.0.1", lane.port()));
    if (engine.empty()) CHECK(lane.events().back().text == "stopped");
  }
}

TEST_CASE("a second supervisor of the same lane is refused and changes nothing") {
  Supervised lane("", flags_at(1));
  lane.start();
  lane.wait_for("launched");
  const auto second = run_captured(lane.command((lane.dir() / "other").string()), 60 * kSecond);
  REQUIRE(second);
  CHECK(second->exit.code == 3);
  CHECK(second->out.empty());
  CHECK_THAT(second->err, Catch::StartsWith("supervisor: error: lane 127.0.0.1:") &&
                              Catch::Contains(fmt::format("watched already by pid {} since", lane.process().pid())));
  CHECK(split_lines(second->err).size() == 1);
  CHECK_FALSE(std::filesystem::exists(lane.dir() / "other"));
  CHECK(lane.process().poll() == std::nullopt);
}

TEST_CASE("an engine that already serves is adopted, watched, and left alone") {
  Supervised lane("", flags_at(60));
  auto engine = Process::start({{std::string(BK_BIN_DIR) + "/sim-engine", "--profile", "sim", "--served-model-name",
                                 "m", "--port", std::to_string(lane.port())},
                                {},
                                "",
                                (lane.dir() / "engine.log").string(),
                                true});
  REQUIRE(engine);
  const Nanos limit = monotonic_now() + 60 * kSecond;
  while (monotonic_now() < limit && boot::check_port_free("127.0.0.1", lane.port()))
    SystemClock().sleep_until(monotonic_now() + 10 * kMillisecond);
  lane.start();
  lane.wait_for("adopted the engine that is running");
  REQUIRE(kill(engine->pid(), SIGSTOP) == 0);
  const Event failed = lane.wait_for("launch failed: port");
  CHECK_THAT(failed.text, Catch::Contains(fmt::format("is taken by sim-engine (pid {})", engine->pid())));
  REQUIRE(kill(engine->pid(), SIGCONT) == 0);
  REQUIRE(kill(lane.process().pid(), SIGTERM) == 0);
  CHECK(lane.process().wait().code == 0);
  CHECK_FALSE(engine->poll());
}

TEST_CASE("a knob without evidence is named, and the rules can be read beforehand") {
  Supervised lane("", flags_at(1), "K=1\nK.values='0 1'\nK.env=K_OF_ENGINE\nK.proof='log: never {VALUE}'\n");
  lane.start();
  CHECK(lane.wait_for("knob").text == "knob K=1 is not proved: no_evidence, engine says nothing");
  Command dry = lane.command((lane.dir() / "dry").string());
  dry.argv.emplace_back("--dry-run");
  const auto ran = run_captured(dry, 60 * kSecond);
  REQUIRE(ran);
  CHECK(ran->exit.code == 0);
  for (const Detection& each : detections(Rules{})) CHECK_THAT(ran->out, Catch::Contains(each.what));
  CHECK_THAT(ran->out, Catch::Contains("16m 30s  3 x (30 + 300) s"));
  CHECK_THAT(ran->out, Catch::Contains("named before the third launch without 30m 00s of health; launches wait 30.0 s, "
                                       "doubling to 15m 00s"));
  CHECK_THAT(ran->out, Catch::Contains("no fault below 5m 00s"));
  CHECK_FALSE(std::filesystem::exists(lane.dir() / "dry"));
}

}  // namespace bk::supervisor
