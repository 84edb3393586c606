#include "script.h"

#include <catch2/catch.hpp>

#include "engine_process.h"

namespace bk::sim {
namespace {

using testing::Answer;
using testing::EngineProcess;

TEST_CASE("script lines are grouped by path and request and ordered by time") {
  const auto script = parse_script(
      "# a comment\n\n"
      R"({"request":0,"at_ms":20,"data":"b"})"
      "\n"
      R"({"request":0,"at_ms":5,"hex":"61FF"})"
      "\n"
      R"({"path":"/metrics","status":503,"data":"no"})"
      "\n");
  REQUIRE(script);
  REQUIRE(script->groups.size() == 2);
  CHECK(script->groups[0].lines[0].bytes == "a\xFF");
  CHECK(script->groups[0].lines[1].at == 20 * kMillisecond);
  CHECK(script->find("/v1/chat/completions", 0) == &script->groups[0]);
  CHECK(script->find("/v1/chat/completions", 1) == nullptr);
  CHECK(script->find("/metrics", 7) == &script->groups[1]);
  CHECK(script->find("/v1/models", 0) == nullptr);
}

TEST_CASE("a malformed script line is named") {
  for (const char* line : {"{", "[1]", R"({"at_mss":1,"data":"x"})", R"({"hex":"6"})", R"({"hex":"zz"})",
                           R"({"stream":{"events":0}})", R"({"stream":{"events":3,"tokens_per_event":[1,0]}})"}) {
    INFO(line);
    const auto script = parse_script("\n" + std::string(line));
    REQUIRE_FALSE(script);
    CHECK(script.error().where == "script line 2");
  }
}

TEST_CASE("phases fill the interval evenly for any number of streams") {
  for (const int streams : {1, 2, 3, 8, 64, 1000}) {
    std::vector<Nanos> phases;
    for (int i = 0; i < streams; ++i) phases.push_back(spread_phase(static_cast<std::uint64_t>(i), 1'000'000));
    std::sort(phases.begin(), phases.end());
    Nanos widest = 1'000'000 - phases.back() + phases.front();
    for (std::size_t i = 1; i < phases.size(); ++i) widest = std::max(widest, phases[i] - phases[i - 1]);
    CHECK(widest <= 2 * 1'000'000 / streams);  // at most twice the even gap, by the sequence's construction
  }
}

// The file's path under a directory that lives as long as the object.
struct ScriptFile {
  explicit ScriptFile(const std::string& text) { REQUIRE(write_file_atomic(path(), text)); }
  [[nodiscard]] std::string path() const { return (dir.path() / "script.jsonl").string(); }
  TempDir dir;
};

TEST_CASE("scripted bytes arrive as they stand, framed or raw, cut or whole") {
  const ScriptFile file(
      R"({"request":0,"data":"data: {\"a\":"})"
      "\n"
      R"({"request":0,"at_ms":30,"data":"1}\n\n","tokens":2})"
      "\n"
      R"({"request":1,"data":"data: x\n\n"})"
      "\n"
      R"({"request":1,"at_ms":10,"data":""})"
      "\n"
      R"({"request":2,"raw":"HTTP/1.1 418 Odd\r\nContent-Length: 3\r\n\r\nabc"})"
      "\n"
      R"({"request":3,"status":503,"headers":{"Retry-After":"7","Content-Type":"application/json"},"data":"{}"})"
      "\n"
      R"({"path":"/metrics","data":"a 1\n"})"
      "\n");
  const EngineProcess engine({"--script", file.path()});
  const std::string chat = "/v1/chat/completions";
  const Answer whole = engine.post(chat, "{}");
  CHECK(whole.status == 200);
  CHECK(whole.complete);
  CHECK(whole.body == "data: {\"a\":1}\n\n");
  CHECK_FALSE(engine.post(chat, "{}").complete);
  const Answer raw = engine.post(chat, "{}");
  CHECK(raw.status == 418);
  CHECK(raw.body == "abc");
  const Answer refused = engine.post(chat, "{}");
  CHECK(refused.status == 503);
  CHECK(refused.head.find("retry-after: 7") != std::string::npos);
  CHECK(refused.head.find("content-type: application/json") != std::string::npos);
  CHECK(engine.get("/metrics").body == "a 1\n");
  CHECK(engine.get("/v1/models").status == 200);  // what no line names is served by the engine
  const Json truth = engine.truth();
  const Json& events = truth["requests"].items().at(0)["events"];
  CHECK(*events.items().at(1).items().at(0).as_int() - *truth["requests"].items().at(0)["received_ns"].as_int() >=
        30 * kMillisecond);
  CHECK(events.items().at(1).items().at(1).as_int() == 2);
}

TEST_CASE("a generated stream keeps its absolute schedule for every client at once") {
  const ScriptFile file(
      R"({"stream":{"first_ms":40,"every_ms":5,"events":30,"tokens_per_event":[1,2,8],"phase":"spread"}})"
      "\n");
  const EngineProcess engine({"--script", file.path()});
  constexpr int kClients = 16;
  std::vector<int> sockets;
  for (int i = 0; i < kClients; ++i)
    sockets.push_back(engine.open("POST", "/v1/chat/completions", R"({"stream":true,"return_token_ids":true})"));
  for (const int fd : sockets) {
    const Answer answer = testing::read_answer(fd);
    CHECK(answer.complete);
    const auto events = answer.events();
    REQUIRE(events.size() == 32);
    CHECK(events.back() == "[DONE]");
    CHECK(parse_json(events[30]).value()["usage"]["completion_tokens"].as_int() == 110);
    CHECK(parse_json(events[2]).value()["choices"].items().at(0)["token_ids"].items().size() == 8);
  }
  const Json truth = engine.truth();
  CHECK(truth["requests"].items().size() == kClients);
  for (const Json& request : truth["requests"].items()) {
    const auto& events = request["events"].items();
    REQUIRE(events.size() == 30);
    const Nanos first = *events.front().items().at(0).as_int(), last = *events.back().items().at(0).as_int();
    CHECK(first - *request["received_ns"].as_int() >= 40 * kMillisecond);
    CHECK(last - first >= 29 * 5 * kMillisecond - 100 * kMillisecond);  // a late first event never delays the last
    CHECK(request["completion_tokens"].as_int() == 110);
  }
}

}  // namespace
}  // namespace bk::sim
