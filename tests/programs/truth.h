#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "http/transport.h"
#include "support/sim_engine.h"

namespace bk::test {

/// One generation request as the engine itself recorded it.
struct TruthRequest {
  Nanos received = 0, end = 0;
  std::int64_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
  std::vector<std::pair<Nanos, std::int64_t>> events;  ///< just before write(), tokens

  [[nodiscard]] double ttft_ms() const { return to_ms(events.front().first - received); }
  /// Tokens after the first event over the time that they took.
  [[nodiscard]] double decode_tok_s() const {
    std::int64_t tokens = 0;
    for (std::size_t i = 1; i < events.size(); ++i) tokens += events[i].second;
    return static_cast<double>(tokens) / to_s(events.back().first - events.front().first);
  }
};

/// What the engine says of every request, in order of arrival.
inline std::vector<TruthRequest> truth_of(const SimEngine& engine) {
  const auto transport = http::make_curl_transport();
  http::Request request;
  request.method = "GET";
  request.url = engine.url() + "/sim/truth";
  const auto response = http::fetch(*transport, request);
  REQUIRE(response);
  const auto document = parse_json(response->body);
  REQUIRE(document);
  std::vector<TruthRequest> requests;
  for (const Json& one : (*document)["requests"].items()) {
    TruthRequest truth;
    truth.received = one["received_ns"].as_int().value_or(0);
    truth.end = one["end_ns"].as_int().value_or(0);
    truth.prompt_tokens = one["prompt_tokens"].as_int().value_or(-1);
    truth.cached_tokens = one["cached_tokens"].as_int().value_or(-1);
    truth.completion_tokens = one["completion_tokens"].as_int().value_or(-1);
    for (const Json& event : one["events"].items()) {
      truth.events.emplace_back(*event.items()[0].as_int(), *event.items()[1].as_int());
    }
    requests.push_back(std::move(truth));
  }
  return requests;
}

inline Json json_of(const Captured& run) {
  INFO(run.out);
  INFO(run.err);
  auto json = parse_json(run.out);
  REQUIRE(json);
  return *json;
}

inline std::int64_t whole(const Json& json) {
  REQUIRE(json.as_int());
  return *json.as_int();
}

inline double real(const Json& json) {
  REQUIRE(json.as_double());
  return *json.as_double();
}

}  // namespace bk::test
