#include <catch2/catch.hpp>

#include "engine_process.h"
#include "physics/knobs.h"

namespace bk::sim {
namespace {

using testing::Answer;
using testing::chat_body;
using testing::EngineProcess;

const char* const kStream =
    R"("stream":true,"max_tokens":64,"ignore_eos":true,"stream_options":{"include_usage":true},"return_token_ids":true)";

// Tokens, text and usage of a streamed answer.
struct Read {
  std::string content, reasoning, finish;
  std::int64_t ids = 0, token_events = 0;
  Json usage;
  bool done = false, error = false;
};

Read read_stream(const Answer& answer) {
  Read read;
  for (const std::string& data : answer.events()) {
    if (data == "[DONE]") {
      read.done = true;
      continue;
    }
    const auto doc = parse_json(data);
    REQUIRE(doc);
    if (doc->find("error") != nullptr) read.error = true;
    if ((*doc)["usage"].is_object()) read.usage = (*doc)["usage"];
    for (const Json& choice : (*doc)["choices"].items()) {
      read.content += choice["delta"]["content"].as_string().value_or(choice["text"].as_string().value_or(""));
      read.reasoning += choice["delta"]["reasoning"].as_string().value_or("");
      read.ids += static_cast<std::int64_t>(choice["token_ids"].items().size());
      read.token_events += choice["token_ids"].items().empty() ? 0 : 1;
      if (const auto finish = choice["finish_reason"].as_string()) read.finish = *finish;
    }
  }
  return read;
}

TEST_CASE("a streamed answer, its usage, the counters and the truth agree to the last token") {
  const EngineProcess engine;
  const Answer answer =
      engine.post("/v1/chat/completions", chat_body("Tell me of tides", kStream), "X-Request-Id: abc\r\n");
  CHECK(answer.status == 200);
  CHECK(answer.complete);
  const Read read = read_stream(answer);
  CHECK(read.done);
  CHECK(read.finish == "length");
  CHECK(read.ids == 64);
  CHECK(read.usage["completion_tokens"].as_int() == 64);
  CHECK_FALSE(read.reasoning.empty());
  CHECK(engine.metric("vllm:generation_tokens_total") == 64);
  const double drafts = engine.metric("vllm:spec_decode_num_drafts_total");
  const double accepted = engine.metric("vllm:spec_decode_num_accepted_tokens_total");
  CHECK(engine.metric("vllm:iteration_tokens_total_count") == static_cast<double>(read.token_events));
  CHECK(accepted + drafts <= 63);
  CHECK(accepted + drafts >= 62);  // the first token, and perhaps a last step without a draft, come without one
  CHECK(engine.metric("vllm:spec_decode_num_accepted_tokens_per_pos_total") == accepted);
  CHECK(engine.metric("vllm:prompt_tokens_total") == static_cast<double>(*read.usage["prompt_tokens"].as_int()));
  const Json truth = engine.truth();
  const Json& request = truth["requests"].items().at(0);
  CHECK(request["id"].as_string() == "chatcmpl-abc");
  CHECK(request["completion_tokens"].as_int() == 64);
  CHECK(request["outcome"].as_string() == "ok");
  CHECK(static_cast<std::int64_t>(request["events"].items().size()) == read.token_events);
  Nanos last = *request["received_ns"].as_int();
  std::int64_t tokens = 0;
  for (const Json& event : request["events"].items()) {
    CHECK(*event.items().at(0).as_int() > last);
    last = *event.items().at(0).as_int();
    tokens += *event.items().at(1).as_int();
  }
  CHECK(tokens == 64);
  CHECK(*request["end_ns"].as_int() >= last);
}

TEST_CASE("thinking can be turned off, choices multiplied, usage made continuous") {
  const EngineProcess engine;
  const std::string no_thinking = R"("chat_template_kwargs":{"thinking":false},)";
  const Read plain = read_stream(engine.post("/v1/chat/completions", chat_body("Of rivers", no_thinking + kStream)));
  CHECK(plain.reasoning.empty());
  const Answer two =
      engine.post("/v1/chat/completions", chat_body("Of rivers", R"("n":2,"max_tokens":8,"ignore_eos":true)"));
  CHECK(two.json()["choices"].items().size() == 2);
  CHECK(two.json()["usage"]["completion_tokens"].as_int() == 16);
  const Answer running = engine.post(
      "/v1/completions",
      R"({"prompt":"Of rivers","max_tokens":9,"stream":true,"ignore_eos":true,"stream_options":{"continuous_usage_stats":true}})");
  std::int64_t before = 0;
  for (const std::string& data : running.events()) {
    if (data == "[DONE]") continue;
    const std::int64_t now = parse_json(data).value()["usage"]["completion_tokens"].as_int().value();
    CHECK(now > before);
    before = now;
  }
  CHECK(before == 9);
}

TEST_CASE("a repeated prompt is reported as cached, until the cache is reset") {
  const EngineProcess engine;
  std::string prompt;
  for (int i = 0; i < 600; ++i) prompt += "river ";
  const std::string body = chat_body(prompt, R"("max_tokens":1)");
  const auto cached = [&] {
    return *engine.post("/v1/chat/completions", body)
                .json()["usage"]["prompt_tokens_details"]["cached_tokens"]
                .as_int();
  };
  CHECK(cached() == 0);
  CHECK(cached() == 512);
  CHECK(engine.post("/reset_prefix_cache", "").status == 200);
  CHECK(cached() == 0);
}

TEST_CASE("errors have the status and the JSON of the servers that it stands for") {
  const EngineProcess engine({"--max-model-len", "64"});
  struct Case {
    std::string path, body;
    int status;
    std::string type;
  };
  const std::string chat = "/v1/chat/completions";
  const std::vector<Case> cases = {
      {chat, "{nope", 400, "Bad Request"},
      {chat, R"({"model":"other","messages":[{"role":"user","content":"x"}]})", 404, "NotFoundError"},
      {chat, R"({"messages":[]})", 400, "Bad Request"},
      {chat, chat_body("x", R"("max_tokens":0)"), 400, "BadRequestError"},
      {chat, chat_body("x", R"("max_tokens":64)"), 400, "BadRequestError"},
      {"/v1/completions", R"({"max_tokens":4})", 400, "BadRequestError"},
  };
  for (const Case& c : cases) {
    INFO(c.body);
    const Answer answer = engine.post(c.path, c.body);
    CHECK(answer.status == c.status);
    CHECK(answer.json()["error"]["type"].as_string() == c.type);
    CHECK(answer.json()["error"]["code"].as_int() == c.status);
  }
  CHECK(engine.get(chat).status == 405);
  CHECK(engine.get("/nowhere").status == 404);
  CHECK(engine.get("/health").status == 200);
  CHECK(engine.get("/v1/models").json()["data"].items().at(0)["max_model_len"].as_int() == 64);
}

TEST_CASE("tokenize and detokenize are each other's inverse, and count as usage does") {
  const EngineProcess engine;
  const Answer tokens = engine.post("/tokenize", R"({"prompt":"The tide is high. 태양광 123"})");
  const Json ids = tokens.json()["tokens"];
  CHECK(tokens.json()["count"].as_int() == static_cast<std::int64_t>(ids.items().size()));
  CHECK(engine.post("/detokenize", Json::object().set("tokens", ids).dump()).json()["prompt"].as_string() ==
        "The tide is high. 태양광 123");
  const std::int64_t count = *engine.post("/tokenize", chat_body("Of rivers", "")).json()["count"].as_int();
  CHECK(engine.post("/v1/chat/completions", chat_body("Of rivers", R"("max_tokens":1)"))
            .json()["usage"]["prompt_tokens"]
            .as_int() == count);
}

TEST_CASE("every knob leaves its proof, and the truth names it") {
  const EngineProcess engine({"--knob", "GATEFUSE=1", "--seed", "9", "--boot-index", "2"});
  for (const physics::Knob& knob : physics::knobs()) {
    CHECK(engine.log().find("proof " + knob.name + "=" + (knob.name == "GATEFUSE" ? "1" : knob.default_value) + "\n") !=
          std::string::npos);
  }
  const Json truth = engine.truth();
  CHECK(truth["knobs"]["GATEFUSE"].as_string() == "1");
  CHECK(truth["seed"].as_int() == 9);
  CHECK(truth["boot_index"].as_int() == 2);
}

TEST_CASE("a key is asked for where one is set, and never printed") {
  EngineProcess engine({"--api-key-env", "SIM_TEST_KEY"}, {{"SIM_TEST_KEY", "s3cr3t-value"}});
  CHECK(engine.get("/v1/models").status == 401);
  CHECK(engine.exchange("GET", "/v1/models", "", "Authorization: Bearer wrong\r\n").status == 401);
  CHECK(engine.exchange("GET", "/v1/models", "", "Authorization: Bearer s3cr3t-value\r\n").status == 200);
  CHECK(engine.get("/health").status == 200);
  CHECK(engine.get("/sim/truth").body.find("s3cr3t") == std::string::npos);
  CHECK(engine.stop().code == 0);
  CHECK(engine.log().find("s3cr3t") == std::string::npos);
}

TEST_CASE("planted facts are found in the prompt; the stride defect loses the deep ones only") {
  const auto ask = [](const EngineProcess& engine, int words) {
    std::string filler;
    for (int i = 0; i < words; ++i) filler += i % 3 == 0 ? "river " : i % 3 == 1 ? "copper " : "meadow ";
    const std::string prompt =
        filler + "\nThe damping coefficient of the quarry resonator is 8127.\n" + filler +
        "\n\nQuestion: What is the damping coefficient of the quarry resonator? Answer with the number.";
    const Answer answer = engine.post("/v1/chat/completions", chat_body(prompt, R"("max_tokens":120,"temperature":0)"));
    return answer.json()["choices"].items().at(0)["message"]["content"].as_string().value_or("").find("8127") !=
           std::string::npos;
  };
  const EngineProcess sound;
  CHECK(ask(sound, 800));
  CHECK(ask(sound, 12000));
  const EngineProcess broken({"--knob", "STRIDE_BUG=1"});
  CHECK(ask(broken, 800));
  CHECK_FALSE(ask(broken, 12000));
}

TEST_CASE("the Korean defect corrupts every n-th Korean answer and no other") {
  const EngineProcess engine({"--knob", "KOREAN_CORRUPT=1/4"});
  int korean = 0, english = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string more = R"("max_tokens":200,"ignore_eos":true)";
    korean +=
        engine.post("/v1/chat/completions", chat_body("배터리에 대해 설명해 주세요", more)).body.find("\xEF\xBF\xBD") !=
        std::string::npos;
    english += engine.post("/v1/chat/completions", chat_body("Explain batteries", more)).body.find("\xEF\xBF\xBD") !=
               std::string::npos;
  }
  CHECK(korean == 2);
  CHECK(english == 0);
}

TEST_CASE("a taken port, a wrong flag and a wrong knob end with one line and their exit code") {
  const EngineProcess engine;
  struct Case {
    std::vector<std::string> flags;
    int code;
    std::string text;
  };
  const std::vector<Case> cases = {
      {{"--port", std::to_string(engine.port())}, 3, "--port"},
      {{"--profil", "sim"}, 2, "--profile"},
      {{"--knob", "GATEFUS=1"}, 2, "GATEFUSE"},
      {{"--fault", "crfl"}, 2, "crlf"},
      {{"--script", "/nowhere/x.jsonl"}, 3, "/nowhere/x.jsonl"},
      {{"--api-key-env", "BK_NO_SUCH"}, 2, "BK_NO_SUCH"},
  };
  for (const Case& c : cases) {
    Command command;
    command.argv = {std::string(BK_BIN_DIR) + "/sim-engine"};
    command.argv.insert(command.argv.end(), c.flags.begin(), c.flags.end());
    const auto ended = run_captured(command, 20 * kSecond);
    REQUIRE(ended);
    INFO(ended->err);
    CHECK(ended->exit.code == c.code);
    CHECK(ended->err.find("sim-engine: error: ") != std::string::npos);
    CHECK(ended->err.find(c.text) != std::string::npos);
  }
}

TEST_CASE("faults") {
  const std::string chat = "/v1/chat/completions";
  SECTION("role-only-first sends the role chunk alone") {
    const EngineProcess engine({"--fault", "role-only-first"});
    const Answer answer = engine.post(chat, chat_body("x", kStream));
    CHECK(answer.events().at(0).find("\"role\":\"assistant\"") != std::string::npos);
    CHECK(read_stream(answer).ids == 64);
  }
  SECTION("crlf and empty chunks change no token") {
    const EngineProcess engine({"--fault", "crlf", "--fault", "empty-chunks"});
    const Answer answer = engine.post(chat, chat_body("x", kStream));
    CHECK(answer.body.find("\r\n\r\n") != std::string::npos);
    CHECK(read_stream(answer).ids == 64);
  }
  SECTION("missing usage") {
    const EngineProcess engine({"--fault", "missing-usage"});
    CHECK(read_stream(engine.post(chat, chat_body("x", kStream))).usage.is_null());
  }
  SECTION("an error inside a 200") {
    const EngineProcess engine({"--fault", "error-in-200=2"});
    const Read read = read_stream(engine.post(chat, chat_body("x", kStream)));
    CHECK(read.error);
    CHECK(read.done);
    CHECK(read.ids < 64);
  }
  SECTION("a cut stream has no end") {
    const EngineProcess engine({"--fault", "cut=2"});
    const Answer answer = engine.post(chat, chat_body("x", kStream));
    CHECK_FALSE(answer.complete);
    CHECK_FALSE(read_stream(answer).done);
  }
  SECTION("a stall holds events back and loses none") {
    const EngineProcess engine({"--fault", "stall=300"});
    CHECK(read_stream(engine.post(chat, chat_body("x", kStream))).ids == 64);
    Nanos gap = 0, last = 0;
    const Json truth = engine.truth();
    for (const Json& event : truth["requests"].items().at(0)["events"].items()) {
      if (last != 0) gap = std::max(gap, *event.items().at(0).as_int() - last);
      last = *event.items().at(0).as_int();
    }
    CHECK(gap >= 290 * kMillisecond);
  }
  SECTION("slow headers come when they were told to") {
    const EngineProcess engine({"--fault", "slow-headers=200"});
    CHECK(read_stream(engine.post(chat, chat_body("x", kStream))).ids == 64);
    const Json truth = engine.truth();
    const Json& request = truth["requests"].items().at(0);
    CHECK(*request["head_sent_ns"].as_int() - *request["received_ns"].as_int() >= 200 * kMillisecond);
  }
  SECTION("refusals carry Retry-After and end") {
    const EngineProcess engine({"--fault", "429=1", "--fault", "503"});
    const Answer first = engine.post(chat, chat_body("x", kStream));
    CHECK(first.status == 429);
    CHECK(first.head.find("retry-after: 1") != std::string::npos);
    CHECK(engine.post(chat, chat_body("x", kStream)).status == 503);
    CHECK(engine.post(chat, chat_body("x", kStream)).status == 200);
  }
  SECTION("a restart resets the counters") {
    const EngineProcess engine({"--fault", "restart=2"});
    (void)engine.post(chat, chat_body("x", kStream));
    CHECK(engine.metric("vllm:generation_tokens_total") == 64);
    const double start = engine.metric("process_start_time_seconds");
    (void)engine.post(chat, chat_body("y", kStream));
    CHECK(engine.metric("vllm:generation_tokens_total") == 0);
    CHECK(engine.metric("process_start_time_seconds") > start);
  }
  SECTION("the counters of several engines add up") {
    const EngineProcess engine({"--fault", "engines=3"});
    (void)engine.post(chat, chat_body("x", kStream));
    CHECK(engine.get("/metrics").body.find("engine=\"2\"") != std::string::npos);
    CHECK(engine.metric("vllm:generation_tokens_total") == 64);
  }
  SECTION("dead metrics, an empty 200, another model's name") {
    const EngineProcess engine({"--fault", "dead-metrics", "--fault", "empty-200", "--fault", "wrong-model"});
    CHECK(engine.get("/metrics").status == 503);
    const Answer empty = engine.post(chat, chat_body("x", kStream));
    CHECK(empty.status == 200);
    CHECK(empty.body.empty());
    CHECK(engine.get("/v1/models").json()["data"].items().at(0)["id"].as_string() == "deepseek-v4-flash-other");
  }
  SECTION("a death leaves an error inside a 200, then the process is gone") {
    EngineProcess engine({"--fault", "die=1"});
    CHECK(read_stream(engine.post(chat, chat_body("x", kStream))).ids == 64);
    CHECK(read_stream(engine.post(chat, chat_body("x", kStream))).error);
    CHECK(engine.wait().code == 1);
  }
}

}  // namespace
}  // namespace bk::sim
