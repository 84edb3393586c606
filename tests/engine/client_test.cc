#include <catch2/catch.hpp>

#include "engine/body.h"
#include "engine/metrics_client.h"
#include "engine/models.h"
#include "engine/tokenize.h"
#include "engine/whole_answer.h"
#include "fake_transport.h"
#include "fixture.h"

namespace bk::engine {
namespace {

using testing::FakeTransport;
using testing::fixture;

Endpoint endpoint(const std::string& model = "") {
  Endpoint result;
  result.base_url = "http://127.0.0.1:8000";
  result.model = model;
  return result;
}

TEST_CASE("a whole answer is a document, or says what it was instead") {
  struct Row {
    int status;
    const char* body;
    const char* error;  // empty: an answer
    Errc code;
  };
  const std::vector<Row> rows = {
      {200, R"({"error":null,"usage":{"prompt_tokens":7}})", "", Errc::kInternal},
      {200, R"({"error":{"message":"model overloaded"}})", "model overloaded", Errc::kServer},
      {200, R"({"error":"no such model"})", "no such model", Errc::kServer},
      {200, "data: {}\n\n", "this is no answer of a chat endpoint: ", Errc::kParse},
      {200, "", "this is no answer of a chat endpoint: ", Errc::kParse},
      {429, R"({"error":{"message":"slow down"}})", "HTTP 429: slow down", Errc::kHttp},
      {307, "", "HTTP 307", Errc::kHttp},
  };
  for (const Row& row : rows) {
    INFO(row.status << " " << row.body);
    FakeTransport transport;
    transport.answer("POST /v1/chat/completions", row.status, row.body);
    const auto answer =
        whole_answer(transport, endpoint("m"), plain_request(endpoint("m"), path_of(Api::kChat), Json::object()));
    if (*row.error == '\0') {
      REQUIRE(answer);
      CHECK((*answer)["usage"]["prompt_tokens"].as_int() == 7);
      continue;
    }
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == row.code);
    CHECK(answer.error().what.rfind(row.error, 0) == 0);
    CHECK(answer.error().what.back() != ' ');
    CHECK(answer.error().where == "http://127.0.0.1:8000");
  }
}

TEST_CASE("a model is resolved to one that is served") {
  struct Row {
    const char* list;
    const char* wanted;
    const char* id;      // empty: refused
    const char* reason;  // part of the error
    std::optional<std::int64_t> context_tokens;
  };
  const std::string vllm = fixture("vllm-0.26.0/models.body");
  const std::string llama = fixture("llamacpp-server-plain/models.body");
  const std::string adapters = R"({"data":[{"id":"base","parent":null},{"id":"lora","parent":"base"}]})";
  const std::string two = R"({"data":[{"id":"qwen-8b"},{"id":"qwen-4b"}]})";
  const std::vector<Row> rows = {
      {vllm.c_str(), "", "m", "", 8192},
      {vllm.c_str(), "m", "m", "", 8192},
      {vllm.c_str(), "nope", "", "model 'nope' is not served (served: m)", {}},
      {llama.c_str(), "", "smollm2", "", 4096},
      {llama.c_str(),
       "smolm2",
       "",
       "did you mean 'smollm2'? (served: smollm2); this server would answer under the wrong name",
       {}},
      {adapters.c_str(), "", "base", "", {}},
      {adapters.c_str(), "lora", "lora", "", {}},
      {two.c_str(), "", "", "several models are served: qwen-8b, qwen-4b", {}},
      {two.c_str(), "qwen-8B", "", "did you mean 'qwen-8b'?", {}},
      {R"({"data":[]})", "", "", "the server lists no model", {}},
      {R"({"data":[]})", "m", "", "(served: none)", {}},
  };
  for (const Row& row : rows) {
    INFO(row.list << " " << row.wanted);
    FakeTransport transport;
    transport.answer("GET /v1/models", 200, row.list);
    Endpoint asked = endpoint(row.wanted);
    const auto model = resolve_model(transport, asked);
    if (*row.id == '\0') {
      REQUIRE_FALSE(model);
      CHECK_THAT(model.error().what, Catch::Contains(row.reason));
      continue;
    }
    REQUIRE(model);
    CHECK(asked.model == row.id);
    CHECK(model->context_tokens == row.context_tokens);
  }
}

TEST_CASE("an alias names the model that it stands for") {
  const auto list = parse_models(R"({"data":[{"id":"a-long-name","aliases":["short"]}]})").value();
  CHECK(choose_model(list, "short").value().id == "a-long-name");
}

TEST_CASE("a server without a model list is believed only when a model is named") {
  FakeTransport transport;
  transport.answer("GET /v1/models", 404, fixture("llamacpp-server-plain/err_404.body"));
  Endpoint named = endpoint("m");
  CHECK(resolve_model(transport, named).value().id == "m");
  Endpoint unnamed = endpoint();
  CHECK(resolve_model(transport, unnamed).error().code == Errc::kUnavailable);
  FakeTransport dead;
  CHECK(resolve_model(dead, named).error().code == Errc::kConnect);
  FakeTransport locked;
  locked.answer("GET /v1/models", 401, R"({"error":{"message":"Invalid API key"}})");
  const auto refused = resolve_model(locked, named);
  CHECK(refused.error().code == Errc::kEnvironment);
  CHECK(refused.error().what ==
        "the server wants a key, from --api-key-env or --api-key-file: HTTP 401: Invalid API key");
  named.api_key = "sk-wrong";
  CHECK(resolve_model(locked, named).error().what == "the server refuses the key: HTTP 401: Invalid API key");
  FakeTransport other;
  other.answer("GET /v1/models", 200, "<html>hello</html>");
  CHECK(resolve_model(other, named).error().code == Errc::kParse);
}

TEST_CASE("vLLM's tokenizer counts text and whole chats") {
  FakeTransport transport;
  transport.answer("POST /tokenize", 200, fixture("vllm-0.26.0/tokenize.body"));
  const Endpoint asked = endpoint("m");
  const auto tokenizer = Tokenizer::detect(transport, asked);
  REQUIRE(tokenizer);
  CHECK(tokenizer->shape() == TokenizeShape::kVllm);
  CHECK(tokenizer->count("one two").value() == 3);
  CHECK(tokenizer->tokens("one two").value() == std::vector<std::int64_t>{360, 1628, 4147});
  CHECK(tokenizer->count_chat("hi", true).value() == 3);
  CHECK(
      transport.asked.back().body ==
      R"({"model":"m","messages":[{"role":"user","content":"hi"}],"chat_template_kwargs":{"thinking":false},"add_generation_prompt":true})");
}

TEST_CASE("llama.cpp's tokenizer is told apart by its empty answer to the other shape") {
  FakeTransport transport;
  transport.answer("POST /tokenize", 200, R"({"tokens":[]})");
  transport.answer("POST /tokenize", 200, R"({"tokens":[5,6]})");
  transport.answer("POST /apply-template", 200, R"({"prompt":"<s>hi"})");
  const Endpoint asked = endpoint("m");
  const auto tokenizer = Tokenizer::detect(transport, asked);
  REQUIRE(tokenizer);
  CHECK(tokenizer->shape() == TokenizeShape::kLlamaCpp);
  CHECK(tokenizer->count("one two").value() == 2);
  CHECK(transport.asked.back().body == R"({"content":"one two","add_special":false})");
  CHECK(tokenizer->count_chat("hi").value() == 2);
  CHECK(transport.asked.back().body == R"({"content":"<s>hi","add_special":true,"parse_special":true})");
}

TEST_CASE("a server without /tokenize, or with one of another kind, has no tokenizer") {
  const Endpoint asked = endpoint("m");
  for (const auto& [status, body] : std::vector<std::pair<int, std::string>>{{404, R"({"detail":"Not Found"})"},
                                                                             {400, R"({"error":"what?"})"},
                                                                             {200, "<html>"},
                                                                             {200, R"({"tokens":7})"}}) {
    FakeTransport transport;
    transport.answer("POST /tokenize", status, body);
    CHECK(Tokenizer::detect(transport, asked).error().code == Errc::kUnavailable);
  }
  FakeTransport dead;
  CHECK(Tokenizer::detect(dead, asked).error().code == Errc::kConnect);
}

TEST_CASE("a metrics page that is off, absent, dead or something else is unavailable, never zeros") {
  struct Row {
    int status;  // 0: no connection
    std::string body;
    Errc code;
    const char* what;
  };
  const std::string raw = fixture("21-llamacpp-metrics/disabled.http");
  const std::string off = raw.substr(raw.find('{'));
  const std::vector<Row> rows = {
      {501, off, Errc::kUnavailable,
       "metrics are off on this server (HTTP 501: This server does not support metrics endpoint.)"},
      {404, "", Errc::kUnavailable, "this server has no metrics page (HTTP 404)"},
      {500, "oops", Errc::kUnavailable, "the metrics page was refused (HTTP 500: oops)"},
      {0, "", Errc::kUnavailable, "no answer from the metrics page: connection refused"},
      {200, "<html></html>", Errc::kParse, "line 1: a metric or label name was expected"},
      {200, "", Errc::kParse, "the metrics page is empty"},
  };
  for (const Row& row : rows) {
    FakeTransport transport;
    if (row.status != 0) transport.answer("GET /metrics", row.status, row.body);
    const auto counters = fetch_counters(transport, endpoint());
    REQUIRE_FALSE(counters);
    CHECK(counters.error().code == row.code);
    CHECK(counters.error().what == row.what);
    CHECK(counters.error().where == "http://127.0.0.1:8000/metrics");
  }
}

TEST_CASE("the key goes to the endpoint's own metrics page only") {
  Endpoint asked = endpoint();
  asked.api_key = "sk-secret";
  const auto keys_sent = [](const FakeTransport& transport) {
    int keys = 0;
    for (const auto& [name, value] : transport.asked.back().headers) keys += name == "Authorization" ? 1 : 0;
    return keys;
  };
  FakeTransport transport;
  transport.answer("GET /metrics", 200, fixture("21-llamacpp-metrics/before.txt"));
  CHECK(fetch_counters(transport, asked).value().generation_tokens == 1000);
  CHECK(keys_sent(transport) == 1);
  asked.metrics_url = "http://127.0.0.1:9000/metrics";
  CHECK(fetch_counters(transport, asked));
  CHECK(keys_sent(transport) == 0);
}

}  // namespace
}  // namespace bk::engine
