#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "base/json.h"
#include "support/sim_engine.h"

using namespace bk;

namespace {

const std::string kKey = "sk-never-to-be-seen-90125";

/// Looks at every command line of the machine until it is stopped.
class CommandLineWatch {
 public:
  CommandLineWatch() : thread_([this] { look(); }) {}
  ~CommandLineWatch() {
    stop_ = true;
    thread_.join();
  }
  CommandLineWatch(const CommandLineWatch&) = delete;
  CommandLineWatch& operator=(const CommandLineWatch&) = delete;
  [[nodiscard]] bool saw_engine() const { return saw_engine_; }
  [[nodiscard]] bool saw_key() const { return saw_key_; }

 private:
  void look() {
    SystemClock clock;
    while (!stop_) {
      std::error_code ignored;
      for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const std::string line = read_file(entry.path() / "cmdline").value_or("");
        if (line.find("sim-engine") != std::string::npos) saw_engine_ = true;
        if (line.find(kKey) != std::string::npos) saw_key_ = true;
      }
      clock.sleep_until(clock.now() + 20 * kMillisecond);
    }
  }
  std::atomic<bool> stop_ = false, saw_engine_ = false, saw_key_ = false;
  std::thread thread_;
};

void write_keyed_profile(const TempDir& dir, const std::string& environment_of_engine) {
  REQUIRE(write_file_atomic(
      dir.path() / "keyed.env",
      "COMMAND=\"{BIN}/sim-engine --profile sim --host 127.0.0.1 --port {PORT} --seed {SEED} --boot-index {BOOT_INDEX} "
      "--served-model-name m --api-key-env " +
          environment_of_engine +
          "\"\nSERVED_MODEL=m\nREADY_TIMEOUT_S=30\nAPI_KEY_ENV=SERVER_KEY\n"
          "GATEFUSE=0\nGATEFUSE.values=\"0 1\"\nGATEFUSE.flag=\"--knob GATEFUSE={VALUE}\"\n"
          "GATEFUSE.proof='log: ^proof GATEFUSE={VALUE}$'\n"));
}

Captured run_keyed(const TempDir& dir, std::map<std::string, std::string> env) {
  env["BK_PROFILES"] = dir.path().string();
  return test::run_program({"bracket", "run", "--profile", "keyed", "--base", "GATEFUSE=0", "--cand", "GATEFUSE=1",
                            "--reps", "2", "--tokens", "32", "--no-gate", "--db", (dir.path() / "r.db").string(),
                            "--log-dir", (dir.path() / "logs").string(), "--json"},
                           std::move(env), dir.path().string());
}

/// Files under the directory, less the key's own, that hold the key.
std::vector<std::string> files_with_key(const TempDir& dir) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path())) {
    if (!entry.is_regular_file() || entry.path().filename() == "key") continue;
    const auto bytes = read_file(entry.path());
    REQUIRE(bytes);
    if (bytes->find(kKey) != std::string::npos) found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace

TEST_CASE("a key given to a bracket reaches the server and appears nowhere else", "[bracket][program]") {
  const bool by_file = GENERATE(false, true);
  CAPTURE(by_file);
  const TempDir dir;
  write_keyed_profile(dir, "SERVER_KEY");
  REQUIRE(write_file_atomic(dir.path() / "key", kKey + "\n"));
  const CommandLineWatch watch;
  const Captured ran =
      run_keyed(dir, by_file ? std::map<std::string, std::string>{{"SERVER_KEY_FILE", (dir.path() / "key").string()}}
                             : std::map<std::string, std::string>{{"SERVER_KEY", kKey}});
  INFO(ran.err);
  REQUIRE((ran.exit.code == 0 || ran.exit.code == 4));
  const auto json = parse_json(ran.out);
  REQUIRE(json);
  CHECK((*json)["state"].as_string() == "done");
  const Captured page = test::run_program(
      {"ledger", "render", "--db", (dir.path() / "r.db").string(), "--out", (dir.path() / "MEASUREMENTS.md").string()});
  CHECK(page.exit.code == 0);
  CHECK(watch.saw_engine());
  CHECK_FALSE(watch.saw_key());
  CHECK(ran.out.find(kKey) == std::string::npos);
  CHECK(ran.err.find(kKey) == std::string::npos);
  CHECK(files_with_key(dir).empty());
}

TEST_CASE("a server that wants another key is refused without either key shown", "[bracket][program]") {
  const TempDir dir;
  write_keyed_profile(dir, "OTHER_KEY");
  const Captured ran = run_keyed(dir, {{"SERVER_KEY", kKey}, {"OTHER_KEY", "sk-another-2112"}});
  CHECK(ran.exit.code == 3);
  CHECK_THAT(ran.err, Catch::Contains("401"));
  for (const std::string& key : {kKey, std::string("sk-another-2112")}) {
    CHECK(ran.out.find(key) == std::string::npos);
    CHECK(ran.err.find(key) == std::string::npos);
  }
  CHECK(files_with_key(dir).empty());
}
