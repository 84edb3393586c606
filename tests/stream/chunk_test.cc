#include "stream/chunk.h"

#include <catch2/catch.hpp>

using namespace bk;
using namespace bk::stream;

namespace {

std::string delta(const std::string& members) { return R"({"choices":[{"index":0,"delta":{)" + members + "}}]}"; }

}  // namespace

TEST_CASE("generated text is found wherever it stands") {
  struct Row {
    const char* what;
    std::string data;
    std::string content, reasoning, tools;
    int token_ids;
    bool bears;
  };
  const std::vector<Row> rows = {
      {"content", delta(R"("content":"a\u00e9\n")"), "a\xC3\xA9\n", "", "", -1, true},
      {"empty content", delta(R"("role":"assistant","content":"")"), "", "", "", -1, false},
      {"null content", delta(R"("content":null)"), "", "", "", -1, false},
      {"reasoning", delta(R"("reasoning":"r")"), "", "r", "", -1, true},
      {"reasoning_content", delta(R"("reasoning_content":"r","content":null)"), "", "r", "", -1, true},
      {"both, the same", delta(R"("reasoning":"r","reasoning_content":"r")"), "", "r", "", -1, true},
      {"both, one null", delta(R"("reasoning":null,"reasoning_content":"r")"), "", "r", "", -1, true},
      {"both, different", delta(R"("reasoning":"r","reasoning_content":"s")"), "", "rs", "", -1, true},
      {"completions text", R"({"choices":[{"text":"t","index":0}]})", "t", "", "", -1, true},
      {"tool call name", delta(R"("tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":""}}])"), "", "",
       "f", -1, true},
      {"tool call arguments",
       delta(R"("tool_calls":[{"function":{"arguments":"{\"a\""}},{"function":{"arguments":":1}"}}])"), "", "",
       "{\"a\":1}", -1, true},
      {"empty tool call", delta(R"("tool_calls":[{"index":0,"function":{"arguments":""}}])"), "", "", "", -1, false},
      {"function call of old", delta(R"("function_call":{"arguments":"x"})"), "", "", "x", -1, true},
      {"token ids without text", R"({"choices":[{"delta":{"content":""},"token_ids":[1,2,3]}]})", "", "", "", 3, true},
      {"token ids null", R"({"choices":[{"delta":{"content":"x"},"token_ids":null}]})", "x", "", "", -1, true},
      {"token ids empty", R"({"choices":[{"delta":{"content":""},"token_ids":[]}]})", "", "", "", -1, false},
      {"prompt ids are not generated",
       R"({"prompt_token_ids":[1,2],"choices":[{"delta":{"content":""},"prompt_token_ids":[1]}]})", "", "", "", -1,
       false},
      {"members in another order", R"({"choices":[{"token_ids":[9],"delta":{"content":"z"},"index":0}],"id":"x"})", "z",
       "", "", 1, true},
      {"another choice bears tokens, its text is not kept", R"({"choices":[{"delta":{"content":"z"},"index":1}]})", "",
       "", "", -1, true},
      {"whole answer", R"({"choices":[{"index":0,"message":{"role":"assistant","content":"all"}}]})", "all", "", "", -1,
       true},
      {"delta null", R"({"choices":[{"index":0,"delta":null}]})", "", "", "", -1, false},
      {"blanks everywhere", "  { \"choices\" : [ { \"delta\" : { \"content\" : \"q\"  } , \"index\" : 0 } ] }  ", "q",
       "", "", -1, true},
      {"look-alike names",
       R"({"choices_":[{"delta":{"content":"n"}}],"choices":[{"delta":{"contents":"n","content":"y"}}]})", "y", "", "",
       -1, true},
  };
  ChunkReader reader;
  for (const Row& row : rows) {
    INFO(row.what);
    const Chunk& chunk = reader.read(row.data);
    REQUIRE(chunk.kind == Chunk::Kind::kChunk);
    CHECK(chunk.content == row.content);
    CHECK(chunk.reasoning == row.reasoning);
    CHECK(chunk.tool_calls == row.tools);
    CHECK(chunk.token_ids == row.token_ids);
    CHECK(chunk.bears_tokens == row.bears);
  }
}

TEST_CASE("usage is read with choices empty, null or missing") {
  const std::string usage =
      R"("usage":{"prompt_tokens":9,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":3},)"
      R"("completion_tokens_details":{"reasoning_tokens":4}})";
  ChunkReader reader;
  for (const std::string& data :
       {"{\"choices\":[]," + usage + "}", "{\"choices\":null," + usage + "}", "{" + usage + "}",
        "{" + usage + ",\"choices\":[]}", "{\"choices\":[{\"delta\":{}," + usage + "}]}"}) {
    INFO(data);
    const Chunk& chunk = reader.read(data);
    REQUIRE(chunk.kind == Chunk::Kind::kChunk);
    REQUIRE(chunk.usage);
    CHECK(chunk.usage->prompt_tokens == 9);
    CHECK(chunk.usage->completion_tokens == 12);
    CHECK(chunk.usage->cached_tokens == 3);
    CHECK(chunk.usage->reasoning_tokens == 4);
  }
  CHECK_FALSE(reader.read(R"({"choices":[],"usage":null})").usage);
  const Chunk& odd = reader.read(
      R"({"usage":{"prompt_tokens":null,"completion_tokens":12.0,"prompt_tokens_details":null,"x":[1,{"y":2}]}})");
  REQUIRE(odd.usage);
  CHECK_FALSE(odd.usage->prompt_tokens);
  CHECK(odd.usage->completion_tokens == 12);
  CHECK_FALSE(odd.usage->cached_tokens);
  CHECK_FALSE(reader.read(R"({"usage":{"completion_tokens":-3}})").usage->completion_tokens);
}

TEST_CASE("timings, finish reason and model") {
  ChunkReader reader;
  const Chunk& chunk = reader.read(
      R"({"model":"m\"x","choices":[{"delta":{},"finish_reason":"stop"}],"timings":{"prompt_ms":1.5,"predicted_ms":20,"prompt_n":7,)"
      R"("predicted_n":8,"cache_n":2,"draft_n":15,"draft_n_accepted":3,"predicted_per_second":1e9}})");
  CHECK(chunk.model == "m\"x");
  CHECK(chunk.finish_reason == "stop");
  REQUIRE(chunk.timings);
  CHECK(chunk.timings->prompt_ms == 1.5);
  CHECK(chunk.timings->predicted_ms == 20.0);
  CHECK(chunk.timings->prompt_n == 7);
  CHECK(chunk.timings->predicted_n == 8);
  CHECK(chunk.timings->cache_n == 2);
  CHECK(chunk.timings->draft_n == 15);
  CHECK(chunk.timings->draft_n_accepted == 3);
  CHECK(reader.read(delta("\"content\":\"a\"")).finish_reason.empty());
}

TEST_CASE("errors keep the server's message") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"error":{"message":"engine stopped","code":500}})", "engine stopped"},
      {R"({"error": {"code": 500, "message": "a\nb"}})", "a b"},
      {R"({"error":"model is loading"})", "model is loading"},
      {R"({"error":{"code":5}})", R"({"code":5})"},
      {R"({"object":"error","message":"too long","code":400})", "too long"},
      {R"({"message":"worker lost"})", "worker lost"},
      {R"({"detail":"Not Found"})", "Not Found"},
      {R"({"choices":[],"error":{"message":"late"}})", "late"},
      {R"({"error":true})", "true"},
  };
  ChunkReader reader;
  for (const auto& [data, want] : rows) {
    INFO(data);
    const Chunk& chunk = reader.read(data);
    CHECK(chunk.kind == Chunk::Kind::kError);
    CHECK(chunk.error == want);
  }
  for (const char* fine : {R"({"error":null,"choices":[]})", R"({"error":"","choices":[]})", R"({"error":false})",
                           R"({"message":"x","choices":[]})", R"({"object":"chat.completion.chunk"})"}) {
    INFO(fine);
    CHECK(reader.read(fine).kind == Chunk::Kind::kChunk);
  }
  CHECK(reader.error_message("plain text") == "plain text");
  CHECK(reader.error_message("") == "an error without a message");
  const std::string euro = "\xE2\x82\xAC";
  std::string many;
  for (int i = 0; i < 400; ++i) many += euro;
  CHECK(reader.error_message(many) == many.substr(0, 498));
}

TEST_CASE("done, blank and broken data") {
  ChunkReader reader;
  CHECK(reader.read("[DONE]").kind == Chunk::Kind::kDone);
  CHECK(reader.read(" [DONE] ").kind == Chunk::Kind::kDone);
  CHECK(reader.read("").kind == Chunk::Kind::kNothing);
  CHECK(reader.read("  ").kind == Chunk::Kind::kNothing);
  for (const char* bad :
       {"{", "{}x", "{\"choices\":[}", "{\"choices\":[{\"delta\":{\"content\":\"a}}]}", "[1]", "7", "\"text\"", "nul",
        "{\"choices\":[{\"delta\":{\"content\":\"\xFF\"}}]}", "{\"choices\":[{\"delta\":{\"content\":\"\\q\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"a\nb\"}}]}", "{\"a\":1,}", "{\"error\":nul}", "{\"detail\":x}",
        "{\"a\" 1}", "DONE"}) {
    INFO(bad);
    const Chunk& chunk = reader.read(bad);
    CHECK(chunk.kind == Chunk::Kind::kBroken);
    CHECK(chunk.error.substr(0, 18) == "not a JSON object:");
  }
  CHECK(reader.read(delta("\"content\":\"still well\"")).content == "still well");
}

TEST_CASE("padding given or not, the chunk is the same") {
  const std::string data = delta(R"("content":"abc")");
  const std::string padded = data + "\n\n" + std::string(64, '}');
  ChunkReader reader;
  CHECK(reader.read(data).content == "abc");
  CHECK(reader.read(std::string_view(padded).substr(0, data.size()), 66).content == "abc");
  const std::string cut = data.substr(0, data.size() - 1);
  CHECK(reader.read(std::string_view(padded).substr(0, cut.size()), 67).kind == Chunk::Kind::kBroken);
}

TEST_CASE("what was read before does not decide how broken text is judged") {
  for (const std::string& bad :
       {std::string(R"({"choices":[{"index":0,"delta":{"k","c":0}]})"), std::string(R"({"a":[{"b":1})"),
        std::string(R"({"id})"), std::string(R"({"error":nul})")}) {
    INFO(bad);
    ChunkReader fresh;
    const std::string want(fresh.read(bad).error);
    ChunkReader used;
    (void)used.read(bad + "}}}}]}}}}}}");
    CHECK(used.read(bad).error == want);
    const std::string inside = bad + "\n\n}" + std::string(64, '}');
    CHECK(used.read(std::string_view(inside).substr(0, bad.size()), 66).error == want);
  }
}

TEST_CASE("an escaped member name is not taken for the plain one") {
  ChunkReader reader;
  const Chunk& chunk = reader.read(R"({"cho\u0069ces":[{"delta":{"content":"x"}}],"choices":[]})");
  CHECK(chunk.kind == Chunk::Kind::kChunk);
  CHECK_FALSE(chunk.bears_tokens);
}
