// What stands in the way of prompts of a size, where only a server's usage can tell it.
#include <catch2/catch.hpp>

#include "../engine/fake_transport.h"
#include "leg/needle_prompts.h"
#include "leg/prompt_maker.h"

namespace bk::leg {
namespace {

constexpr const char* kFinish =
    "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n";
constexpr const char* kDone = "data: [DONE]\n\n";

std::string whats_wrong(const std::string& body, bool needles) {
  testing::FakeTransport transport;
  transport.answer("POST /v1/chat/completions", 200, body);
  engine::Endpoint endpoint;
  endpoint.base_url = "http://127.0.0.1:8000";
  if (needles) {
    const auto document = NeedleSizer(transport, endpoint).make(1, 2048);
    return document ? "" : document.error().what;
  }
  const auto prompt = PromptMaker(transport, endpoint).make(2048, 1);
  return prompt ? "" : prompt.error().what;
}

TEST_CASE("an answer without usage is told from one that failed and from one that was cut") {
  CHECK_THAT(whats_wrong(std::string(kFinish) + kDone, false), Catch::StartsWith("the server has neither /tokenize"));
  CHECK_THAT(whats_wrong(kFinish, false), Catch::EndsWith("without usage and [DONE]: was it cut?"));
  CHECK_THAT(whats_wrong(R"({"choices":[]})", true), Catch::StartsWith("the server has neither /tokenize"));
  for (const bool needles : {false, true}) {
    CHECK(whats_wrong(R"({"error":{"message":"model overloaded"}})", needles) == "model overloaded");
  }
}

}  // namespace
}  // namespace bk::leg
