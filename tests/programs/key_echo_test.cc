#include <catch2/catch.hpp>
#include <filesystem>

#include "base/json.h"
#include "support/sim_engine.h"

using namespace bk;
using test::run_program;
using test::SimEngine;

namespace {

const std::string kKey = "sk-repeated-by-a-server-555";

/// A server that lists its model and answers every chat with the key that it was sent.
std::string script_with(int status, const std::string& type, const std::string& body) {
  Json models = Json::object(), chat = Json::object(), headers = Json::object();
  models.set("path", "/v1/models").set("data", R"({"object":"list","data":[{"id":"m","object":"model"}]})");
  headers.set("content-type", type);
  chat.set("path", "/v1/chat/completions").set("status", status).set("headers", std::move(headers)).set("data", body);
  return models.dump() + "\n" + chat.dump() + "\n";
}

}  // namespace

TEST_CASE("a key that the server repeats is neither shown nor stored") {
  const std::string chunk = R"(data: {"model":")" + kKey + R"(","choices":[{"delta":{"content":"your key is )" + kKey +
                            R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":5}})" +
                            "\n\ndata: [DONE]\n\n";
  struct Row {
    std::string script;
    int bench_code, gate_code;
  };
  for (const Row& row :
       {Row{script_with(401, "application/json", R"({"error":{"message":"bad key: )" + kKey + "\"}}"), 3, 3},
        Row{script_with(200, "text/event-stream", chunk), 0, 1}}) {
    const TempDir dir;
    const std::string script = (dir.path() / "script.jsonl").string(), db = (dir.path() / "r.db").string();
    REQUIRE(write_file_atomic(script, row.script));
    const SimEngine engine({"--script", script});
    std::filesystem::remove(script);
    for (const bool gate : {false, true}) {
      std::vector<std::string> words =
          gate ? std::vector<std::string>{"check-quality", "--contexts", "512"}
               : std::vector<std::string>{"bench-dec", "-C", "1", "--reps", "1", "--warmup", "0"};
      words.insert(words.end(), {"--base-url", engine.url(), "--api-key-env", "MYKEY", "--db", db, "--json"});
      const Captured run = run_program(words, {{"MYKEY", kKey}}, dir.path().string());
      INFO(run.out << run.err);
      CHECK(run.exit.code == (gate ? row.gate_code : row.bench_code));
      CHECK(run.out.find(kKey) == std::string::npos);
      CHECK(run.err.find(kKey) == std::string::npos);
      if (row.bench_code == 3) CHECK((run.out + run.err).find("***") != std::string::npos);
    }
    for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
      CHECK(read_file(entry.path()).value_or("").find(kKey) == std::string::npos);
    }
  }
}
