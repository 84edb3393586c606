// Streams from which other clients make plausible rows: ours fail, or give what is right and mark what is not.
#include <catch2/catch.hpp>

#include "base/text.h"
#include "truth.h"

using namespace bk;
using test::json_of;
using test::real;
using test::whole;

namespace {

constexpr const char* kDone = "data: [DONE]\n\n";
constexpr const char* kDied =
    "data: {\"error\": {\"message\":\"EngineCore died\",\"type\":\"InternalServerError\",\"code\":500}}\n\n";

std::string chunk(const std::string& delta, const std::string& more = "") {
  return R"(data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":)" + delta + more +
         ",\"finish_reason\":null}]}\n\n";
}

std::string usage(int tokens) {
  return fmt::format(R"(data: {{"id":"x","object":"chat.completion.chunk","choices":[],"usage":{{"prompt_tokens":128,)"
                     R"("completion_tokens":{}}}}})"
                     "\n\n",
                     tokens);
}

struct Piece {
  int at_ms;
  std::string bytes;  ///< empty: the connection is cut here
};
using Pieces = std::vector<Piece>;

/// `count` events 10 ms apart from 200 ms on, then `tail`.
Pieces events(int count, const std::function<std::string(int)>& event, const std::string& tail) {
  Pieces pieces;
  for (int i = 0; i < count; ++i) pieces.push_back({200 + 10 * i, event(i)});
  pieces.push_back({200 + 10 * count, tail});
  return pieces;
}

std::string plain(int) { return chunk(R"({"content":" tok"})"); }

/// A server that answers these requests of the chat endpoint, or every one, with the pieces.
std::string script_of(const Pieces& pieces, const std::vector<int>& requests) {
  std::string text;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, requests.size()); ++i) {
    for (const Piece& piece : pieces) {
      Json line = Json::object().set("path", "/v1/chat/completions").set("at_ms", piece.at_ms);
      if (!requests.empty()) line.set("request", requests[i]);
      if (piece.bytes.empty()) {
        line.set("cut", true);
      } else {
        line.set("data", piece.bytes).set("headers", Json::object().set("Content-Type", "text/event-stream"));
      }
      text += line.dump() + "\n";
    }
  }
  return text;
}

/// One request of bench-probe, and one measured row of benchy after its two warm-ups and the batch that it discards.
struct Both {
  Captured probe, benchy;
};

Both run_both(const Pieces& pieces) {
  const TempDir dir;
  const auto run = [&](const std::vector<int>& requests, std::vector<std::string> argv) {
    REQUIRE(write_file_atomic(dir.path() / "script", script_of(pieces, requests)));
    const test::SimEngine engine({"--script", (dir.path() / "script").string()});
    argv.insert(argv.end(), {"--base-url", engine.url(), "--json", "--db", (dir.path() / "r.db").string()});
    return test::run_program(argv, {}, dir.path().string());
  };
  return {run({}, {"bench-probe", "-n", "1", "--warmup", "0", "--prompt-tokens", "128", "--tokens", "16"}),
          run({2, 3},
              {"benchy", "--pp", "128", "--tg", "16", "--runs", "1", "--latency-mode", "none", "--skip-coherence"})};
}

}  // namespace

TEST_CASE("an engine that dies in a stream, a cut one and one without an end are failures, not rows") {
  const std::string died = std::string(kDied) + kDone;
  const Pieces cut = {{200, plain(0)}, {210, plain(1)}, {220, ""}};
  Pieces cut_before_usage = events(16, plain,
                                   R"(data: {"id":"x","choices":[{"index":0,"delta":{},)"
                                   R"("finish_reason":"length"}]})"
                                   "\n\n");
  cut_before_usage.push_back({370, ""});
  struct Row {
    const char* name;
    Pieces pieces;
    const char* says;
  };
  const Row rows[] = {
      {"an error after four tokens", events(4, plain, died), "EngineCore died"},
      {"an error first", {{200, died}}, "EngineCore died"},
      {"nothing but the end", {{200, kDone}}, "a success status with no event"},
      {"a cut connection", cut, "closed the connection before the end"},
      {"a cut behind the finish", cut_before_usage, "closed the connection before the end"},
      {"no end", events(16, plain, usage(16)), "ended without [DONE]"},
  };
  for (const Row& row : rows) {
    const Both ran = run_both(row.pieces);
    for (const Captured* one : {&ran.probe, &ran.benchy}) {
      INFO(row.name << "\n" << one->err << one->out);
      CHECK(one->exit.code == 3);
      CHECK_THAT(one->err, Catch::Contains(row.says));
    }
    const Json probe = parse_json(ran.probe.out).value();
    CHECK(probe["decode_tok_s"].is_null());
    const Json row_of = parse_json(ran.benchy.out).value()["benchmarks"].items().at(0);
    CHECK(row_of["tg_throughput"].is_null());
    CHECK(row_of["correct"]["requests_failed"].as_int() == 1);
  }
}

TEST_CASE("a role chunk, tokens without text, tool calls and carriage returns change no figure") {
  const std::string end = usage(16) + kDone;
  Pieces early = events(16, plain, end);
  early.insert(early.begin(), {0, chunk(R"({"role":"assistant","content":""})")});
  const auto silent = [](int i) {
    return chunk(i % 2 ? R"({"content":" tok"})" : R"({"content":""})", fmt::format(",\"token_ids\":[{}]", i));
  };
  const auto tool = [](int) { return chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"a"}}]})"); };
  const auto crlf = [](int i) { return std::string(trim(plain(i))) + "\r\n\r\n"; };
  for (const Pieces& pieces : {early, events(16, silent, end), events(16, tool, end), events(16, crlf, end)}) {
    const Both ran = run_both(pieces);
    const Json probe = json_of(ran.probe);
    CHECK(ran.probe.exit.code == 0);
    CHECK(whole(probe["completion_tokens"]) == 16);
    CHECK(probe["decode_basis"].as_string() == "exact");
    CHECK(real(probe["ttft_ms"]) >= 199);
    CHECK(real(probe["decode_tok_s"]) ==
          Approx(15'000 / (real(probe["last_token_ms"]) - real(probe["ttft_ms"]))).epsilon(1e-6));
    const Json correct = json_of(ran.benchy)["benchmarks"].items().at(0)["correct"];
    CHECK(ran.benchy.exit.code == 0);
    CHECK(correct["decode_basis"].as_string() == "exact");
    CHECK(real(correct["ttft_ms"]["mean"]) >= 199);
    CHECK(real(correct["prefill_tok_s"]["mean"]) < 128 / 0.199);
  }
}

TEST_CASE("several tokens in an event that nobody counts are marked, and exact where somebody does") {
  const auto six = [](int) { return chunk(R"({"content":" tok tok tok tok tok tok"})"); };
  const auto ids = [](int i) {
    return chunk(R"({"content":" tok tok tok tok tok tok"})", fmt::format(",\"token_ids\":[{0},1,2,3,4,5]", i));
  };
  const Both uncounted = run_both(events(5, six, usage(30) + kDone));
  const Json probe = json_of(uncounted.probe);
  CHECK(probe["decode_basis"].as_string() == "n_minus_1");
  CHECK_THAT(uncounted.probe.err, Catch::Contains("n_minus_1"));
  CHECK(json_of(uncounted.benchy)["benchmarks"].items().at(0)["correct"]["decode_basis"].as_string() == "n_minus_1");
  const Both counted = run_both(events(5, ids, usage(30) + kDone));
  const Json exact = json_of(counted.probe);
  CHECK(exact["decode_basis"].as_string() == "exact");
  CHECK_THAT(counted.probe.err, !Catch::Contains("n_minus_1"));
  CHECK(real(exact["decode_tok_s"]) ==
        Approx(24'000 / (real(exact["last_token_ms"]) - real(exact["ttft_ms"]))).epsilon(1e-6));
}
