#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "base/json.h"
#include "base/text.h"
#include "replay.h"

using namespace bk;
using namespace bk::stream;
using namespace bk::stream::test;

namespace {

// The last "name":<number> in the bytes: read without the parser under test.
std::optional<std::int64_t> last_number(std::string_view bytes, const std::string& name) {
  const std::string key = "\"" + name + "\":";
  const std::size_t at = bytes.rfind(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = bytes.substr(at + key.size());
  return parse_int(digits.substr(0, digits.find_first_not_of("0123456789")));
}

std::string whole_body(const Capture& capture) {
  std::string body;
  for (const Read& read : capture.reads) body += read.bytes;
  return body;
}

std::vector<std::string> captures(const std::string& ending) {
  std::vector<std::string> names;
  const std::filesystem::path root = std::string(BK_SOURCE_DIR) + "/tests/fixtures";
  for (const char* folder :
       {"llamacpp-server-plain", "llamacpp-server-spec", "vllm-0.26.0", "vllm-0.32.0-cpu-smollm2-ngram"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) {
        names.push_back(std::string(folder) + "/" + name);
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check_against_bytes(const RequestRecord& record, std::string_view body) {
  CHECK(record.completion_tokens == last_number(body, "completion_tokens"));
  CHECK(record.tokens_source == TokensSource::kUsage);
  REQUIRE(record.usage);
  CHECK(record.usage->prompt_tokens == last_number(body, "prompt_tokens"));
  CHECK(record.usage->cached_tokens == last_number(body, "cached_tokens"));
  if (const auto predicted = last_number(body, "predicted_n")) {
    REQUIRE(record.timings);
    CHECK(record.timings->predicted_n == predicted);
    CHECK(record.timings->predicted_n == record.completion_tokens);
    CHECK(record.timings->prompt_n == last_number(body, "prompt_n"));
    CHECK(record.timings->draft_n == last_number(body, "draft_n"));
    CHECK(record.timings->draft_n_accepted == last_number(body, "draft_n_accepted"));
    CHECK(*record.timings->cache_n + *record.timings->prompt_n == record.usage->prompt_tokens);
  }
}

}  // namespace

TEST_CASE("timed captures: tokens equal the server's usage") {
  const auto names = captures(".timed.jsonl");
  REQUIRE(names.size() == 22);
  for (const std::string& name : names) {
    INFO(name);
    const Capture capture = read_capture(name);
    CHECK(capture.complete);
    const std::string body = whole_body(capture);
    const RequestRecord record = replay(capture);
    CHECK(record.outcome == Outcome::kOk);
    CHECK(record.reason.empty());
    check_against_bytes(record, body);
    CHECK(record.done_seen);
    CHECK(record.decode_tok_s.value > 1.0);
    CHECK(record.decode_tok_s.value < 500.0);
    CHECK_FALSE(record.burst);
    // The same bytes in one read, and one byte at a time.
    CHECK(digest(replay({{1, body}})) == digest(record));
    std::vector<Read> bytes;
    for (const char c : body) bytes.push_back({1, std::string(1, c)});
    CHECK(digest(replay(bytes)) == digest(record));
  }
}

TEST_CASE("speculative vLLM streams: the ids of all events are all tokens") {
  for (const int i : {1, 2, 3, 4}) {
    INFO(i);
    const RequestRecord record =
        replay(read_capture(fmt::format("vllm-0.32.0-cpu-smollm2-ngram/chat{}.timed.jsonl", i)));
    std::int64_t sum = 0;
    for (const TokenEvent& event : record.events) {
      CHECK(event.tokens >= 1);
      sum += event.tokens;
    }
    CHECK(sum == record.completion_tokens);
    CHECK(sum == 128);
    CHECK(static_cast<std::int64_t>(record.events.size()) < sum);
    CHECK(record.decode_basis == DecodeBasis::kExact);
  }
}

TEST_CASE("bodies: tokens equal the server's usage") {
  int streams = 0;
  for (const std::string& name : captures(".body")) {
    const std::string body = fixture(name);
    if (body.substr(0, 5) != "data:") continue;
    ++streams;
    INFO(name);
    const RequestRecord record = replay_body(body);
    CHECK(record.outcome == Outcome::kOk);
    CHECK_FALSE(record.finish_reason.empty());
    CHECK_FALSE(record.content.empty());
    if (name.find("chat_n2") != std::string::npos) continue;  // two choices: usage is of one
    if (last_number(body, "completion_tokens")) {
      check_against_bytes(record, body);
    } else {
      CHECK_FALSE(record.completion_tokens);
      CHECK(record.decode_tok_s.reason == "burst");
    }
  }
  CHECK(streams >= 14);
}

TEST_CASE("known figures of single captures") {
  const RequestRecord utf8 = replay_body(fixture("llamacpp-server-plain/chat_stream_utf8.body"));
  CHECK(utf8.completion_tokens == 40);
  CHECK(utf8.events.size() == 17);
  const RequestRecord eos = replay_body(fixture("llamacpp-server-plain/chat_stream_ignore_eos.body"));
  CHECK(eos.completion_tokens == 64);
  CHECK(eos.usage->cached_tokens == 24);
  const RequestRecord ids = replay_body(fixture("vllm-0.26.0/chat_stream_token_ids.body"));
  CHECK(ids.completion_tokens == 32);
  CHECK(ids.decode_basis == DecodeBasis::kNone);  // one read: no window
  const RequestRecord nousage = replay_body(fixture("llamacpp-server-plain/chat_stream_nousage.body"));
  CHECK(nousage.timings->predicted_n == 6);
  CHECK_FALSE(nousage.usage);
  const RequestRecord spec = replay(read_capture("llamacpp-server-spec/ngram-k5.chat1.timed.jsonl"));
  CHECK(spec.completion_tokens == 96);
  CHECK(spec.timings->draft_n == 15);
  CHECK(spec.timings->draft_n_accepted == 2);
  CHECK(to_ms(*spec.ttft) == Approx(630.251));
}

TEST_CASE("answers that were not streamed, and refusals") {
  for (const char* name :
       {"llamacpp-server-plain/chat_nonstream", "llamacpp-server-plain/comp_nonstream", "vllm-0.26.0/chat_nonstream"}) {
    INFO(name);
    const std::string body = fixture(std::string(name) + ".body");
    Timeline timeline;
    timeline.sent(0, 0, true);
    timeline.headers(200, "application/json; charset=utf-8", 1);
    timeline.bytes(body, kSecond);
    const RequestRecord record = timeline.finish({StreamEnd::Kind::kComplete, {}, kSecond});
    CHECK(record.outcome == Outcome::kOk);
    CHECK(record.completion_tokens == last_number(body, "completion_tokens"));
    CHECK(record.finish_reason == "length");
    CHECK_FALSE(record.content.empty());
    CHECK_FALSE(record.ttft);
    CHECK(record.decode_tok_s.reason == "not_streamed");
    CHECK(record.e2e_tok_s.value == Approx(static_cast<double>(*record.completion_tokens)));
  }
  Timeline refused;
  refused.headers(400, "application/json", 1);
  refused.bytes(fixture("llamacpp-server-plain/err_too_long.body"), 2);
  const RequestRecord record = refused.finish({StreamEnd::Kind::kComplete, {}, 3});
  CHECK(record.outcome == Outcome::kHttpStatus);
  CHECK(record.reason.substr(0, 10) == "HTTP 400: ");
  CHECK(record.reason.find('{') == std::string::npos);
  Timeline models;
  models.headers(200, "application/json", 1);
  models.bytes(fixture("llamacpp-server-plain/models.body"), 2);
  CHECK(models.finish({StreamEnd::Kind::kComplete, {}, 3}).outcome == Outcome::kNotStream);
}

TEST_CASE("random splits of real streams give the same record") {
  std::mt19937 random(7);
  for (const char* name :
       {"llamacpp-server-plain/chat_stream_utf8.body", "llamacpp-server-plain/chat_stream_logprobs.body",
        "vllm-0.26.0/chat_stream_continuous.body", "vllm-0.26.0/comp_stream.body"}) {
    INFO(name);
    const std::string body = fixture(name);
    const std::string want = digest(replay_body(body));
    for (int round = 0; round < 100; ++round) {
      std::vector<Read> reads;
      for (std::size_t at = 0; at < body.size();) {
        const std::size_t size = 1 + random() % (round % 2 == 0 ? 17 : 700);
        reads.push_back({static_cast<Nanos>(reads.size()), body.substr(at, size)});
        at += size;
      }
      REQUIRE(digest(replay(reads)) == want);
    }
  }
}
