#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "run.h"
#include "tool/bench.h"

namespace bk::check_quality {
namespace {

/// A simulated engine on a port of its own choosing, ended with the object.
class Engine {
 public:
  explicit Engine(const std::vector<std::string>& flags) {
    Command command;
    command.argv = {std::string(BK_BIN_DIR) + "/sim-engine", "--port", "0"};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    command.output_file = (dir_.path() / "engine.log").string();
    process_.emplace(Process::start(command).value());
    url_ = wait_for_url(command.output_file);
  }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  static std::string wait_for_url(const std::string& log) {
    constexpr std::string_view kMark = "listening on ";
    for (int i = 0; i < 600; ++i) {
      const std::string text = read_file(log).value_or("");
      for (const std::string_view line : split_lines(text)) {
        if (line.starts_with(kMark) && text.find("ready") != std::string::npos) {
          return std::string(line.substr(kMark.size()));
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("sim-engine did not start");
  }

  TempDir dir_;
  std::optional<Process> process_;
  std::string url_;
};

struct Ran {
  int code = 0;
  std::string out, err;
};

Ran check(const std::string& url, std::vector<std::string> more) {
  const TempDir dir;
  std::vector<std::string> args = {"--base-url", url, "--db", (dir.path() / "r.db").string(), "--quiet"};
  args.insert(args.end(), more.begin(), more.end());
  std::ostringstream out, err;
  cli::Streams streams{out, err};
  const int code = cli::run_with("check-quality", streams, args, run);
  return {code, out.str(), err.str()};
}

TEST_CASE("a good engine finds every fact, in prompts of exactly the size that was asked for") {
  const Engine engine({});
  const Ran ran = check(engine.url(), {"--contexts", "2K,4K", "--json"});
  CHECK(ran.code == 0);
  const Json json = parse_json(ran.out).value();
  CHECK(json["verdict"].as_string() == "pass");
  CHECK(json["passed"].as_int() == 6);
  CHECK(json["asked"].as_int() == 6);
  std::int64_t most = 0;
  for (const Json& question : json["questions"].items()) {
    if (question["context_tokens"].as_int() == 2048) most = std::max(most, question["prompt_tokens"].as_int().value());
  }
  CHECK(most == 2048);
  const Ran table = check(engine.url(), {"--contexts", "2K"});
  CHECK_THAT(table.out, Catch::Contains("=> 3/3 correct"));
}

TEST_CASE("an engine that loses deep facts passes at 2K and fails at depth") {
  const Engine engine({"--knob", "STRIDE_BUG=1"});
  CHECK(check(engine.url(), {"--contexts", "2K"}).code == 0);
  const Ran deep = check(engine.url(), {"--contexts", "2K,32K"});
  CHECK(deep.code == 1);
  CHECK_THAT(deep.out, Catch::Contains("32K at 50 %, fail") && Catch::Contains("=> 3/6 correct"));
}

TEST_CASE("replies without an answer leave the gate open, and a server that fails all requests ends with 3") {
  const Engine engine({});
  const Ran cut = check(engine.url(), {"--contexts", "2K", "--max-tokens", "3"});
  CHECK(cut.code == 4);
  CHECK_THAT(cut.out, Catch::Contains("=> 0/3 correct, 3 without an answer (cut_by_length)"));
  const Engine small({"--max-model-len", "1024"});
  const Ran refused = check(small.url(), {"--contexts", "2K"});
  CHECK(refused.code == 3);
  CHECK_THAT(refused.err, Catch::Contains("the server holds 1024 tokens only"));
  const Ran dead = check("http://127.0.0.1:1", {"--contexts", "2K"});
  CHECK(dead.code == 3);
  CHECK(check(engine.url(), {"--model", "nope", "--contexts", "2K"}).code == 2);
}

TEST_CASE("contexts are whole numbers with or without a K") {
  CHECK(tool::parse_token_list("2K,32000, 1k", "--contexts").value() == std::vector<std::int64_t>{2048, 32000, 1024});
  for (const char* text : {"", "2M", "K", "-1", "0", "2K,,3K", "1.5K"}) {
    INFO(text);
    CHECK(tool::parse_token_list(text, "--contexts").error().code == Errc::kUsage);
  }
}

}  // namespace
}  // namespace bk::check_quality
