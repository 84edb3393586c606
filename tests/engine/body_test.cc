#include "engine/body.h"

#include <catch2/catch.hpp>

#include "fixture.h"

namespace bk::engine {
namespace {

Endpoint endpoint() {
  Endpoint result;
  result.base_url = "http://127.0.0.1:8000";
  result.model = "m";
  return result;
}

Generation generation(const std::string& prompt) {
  Generation result;
  result.prompt = prompt;
  return result;
}

TEST_CASE("bodies hold the fields that were asked for and no other") {
  Generation bare = generation("hi");
  bare.stream = false;
  Generation decode = generation("hi");
  decode.max_tokens = 768;
  decode.temperature = 0.95;
  decode.thinking_off = true;
  Generation fixed = generation("hi");
  fixed.max_tokens = 128;
  fixed.ignore_eos = true;
  fixed.seed = 7;
  fixed.per_event_counts = false;
  Generation completion = generation("hi");
  completion.api = Api::kCompletions;
  completion.thinking_off = true;
  completion.include_usage = false;
  Generation endless = generation("hi");
  endless.stream = false;
  endless.ignore_eos = true;
  const std::string user = R"("model":"m","messages":[{"role":"user","content":"hi"}])";
  const std::string counted =
      R"("stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"return_token_ids":true)";
  const std::vector<std::pair<Generation, std::string>> rows = {
      {bare, "{" + user + R"(,"stream":false})"},
      {decode, "{" + user + R"(,"chat_template_kwargs":{"thinking":false},"max_tokens":768,"temperature":0.95,)" +
                   counted + "}"},
      {fixed,
       "{" + user +
           R"(,"max_tokens":128,"ignore_eos":true,"min_tokens":128,"seed":7,"stream":true,"stream_options":{"include_usage":true}})"},
      {completion, R"({"model":"m","prompt":"hi","stream":true,"return_token_ids":true})"},
      {endless, "{" + user + R"(,"ignore_eos":true,"stream":false})"},
  };
  for (const auto& [asked, body] : rows) CHECK(make_body(endpoint(), asked).dump() == body);
}

TEST_CASE("the endpoint's extra body has the last word, member by member") {
  Endpoint with = endpoint();
  with.extra_body = parse_json(R"({"temperature":0,"top_k":1,"model":"other"})").value();
  Generation asked = generation("hi");
  asked.temperature = 0.8;
  const Json body = make_body(with, asked);
  CHECK(body["temperature"].as_double() == 0.0);
  CHECK(body["top_k"].as_int() == 1);
  CHECK(body["model"].as_string() == "other");
}

TEST_CASE("a request carries the key in one header only, and none without a key") {
  Endpoint with = endpoint();
  CHECK(make_request(with, generation("hi")).url == "http://127.0.0.1:8000/v1/chat/completions");
  for (const auto& [name, value] : make_request(with, generation("hi")).headers) CHECK(name != "Authorization");
  with.api_key = "sk-secret";
  with.headers = {{"X-Team", "a"}};
  const auto request = make_request(with, generation("hi"));
  const std::vector<std::pair<std::string, std::string>> expected = {{"Content-Type", "application/json"},
                                                                     {"Accept", "text/event-stream"},
                                                                     {"X-Team", "a"},
                                                                     {"Authorization", "Bearer sk-secret"}};
  CHECK(request.headers == expected);
  CHECK(request.body.find("sk-secret") == std::string::npos);
  CHECK(with.describe().find("sk-secret") == std::string::npos);
}

TEST_CASE("base URLs lose their slash and /v1") {
  for (const char* url : {"http://h:1", "http://h:1/", "http://h:1/v1", " http://h:1/v1// "}) {
    CHECK(normal_base_url(url) == "http://h:1");
  }
  CHECK(normal_base_url("http://h/proxy/v1") == "http://h/proxy");
  CHECK(normal_base_url("http://h/v10") == "http://h/v10");
}

TEST_CASE("a begun answer that falls silent is given up, by the caller's limit or the usual one") {
  CHECK(make_request(endpoint(), generation("hi"), {.total = 9 * kSecond}).timeouts.idle == kLongestSilence);
  CHECK(make_request(endpoint(), generation("hi"), {.idle = 2 * kSecond}).timeouts.idle == 2 * kSecond);
}

TEST_CASE("the servers' own messages are found in their error bodies") {
  struct Row {
    std::string body;
    const char* message;
  };
  const auto file = [](const char* name) { return testing::fixture(name); };
  const std::vector<Row> rows = {
      {file("llamacpp-server-plain/err_404.body"), "File Not Found"},
      {file("llamacpp-server-plain/err_missing_messages.body"), "'messages' is required"},
      {file("llamacpp-server-plain/err_too_long.body"),
       "request (20031 tokens) exceeds the available context size (4096 tokens), try increasing it"},
      {file("vllm-0.26.0/err_model.body"), "The model `nope` does not exist."},
      {R"({"error":"overloaded"})", "overloaded"},
      {R"({"object":"error","message":"bad"})", "bad"},
      {R"({"detail":"Not Found"})", "Not Found"},
      {R"({"detail":[{"msg":"x"}]})", R"([{"msg":"x"}])"},
      {"Internal Server Error\nmore", "Internal Server Error"},
      {"", ""},
  };
  for (const Row& row : rows) CHECK(error_message(row.body) == row.message);
  CHECK(error_message(std::string(5000, 'x')).size() == 303);
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "\xEA\xB0\x80";  // a Hangul syllable: 3 bytes
  CHECK(error_message("x" + wide) == "x" + wide.substr(0, 297) + "...");
}

}  // namespace
}  // namespace bk::engine
