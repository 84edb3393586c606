#include <catch2/catch.hpp>

#include "base/json.h"
#include "support/sim_engine.h"

namespace bk {
namespace {

Captured mpirun(int ranks, std::vector<std::string> words) {
  std::vector<std::string> argv = {"mpirun",
                                   "--allow-run-as-root",
                                   "--oversubscribe",
                                   "--bind-to",
                                   "none",
                                   "-n",
                                   std::to_string(ranks),
                                   std::string(BK_BIN_DIR) + "/bench-conc-mpi"};
  argv.insert(argv.end(), words.begin(), words.end());
  const TempDir dir;
  auto ran = run_captured({argv, {{"BRACKETKIT_DB", (dir.path() / "r.db").string()}}, dir.path().string(), "", true},
                          90 * kSecond);
  REQUIRE(ran);
  return *ran;
}

TEST_CASE("three ranks do together what one process does alone") {
  const test::SimEngine engine({"--speed", "10"});
  const std::vector<std::string> load = {"--base-url", engine.url(), "-C",       "3,6", "-n", "24",
                                         "--tokens",   "32",         "--warmup", "0",   "-q", "--json"};
  std::vector<std::string> alone = {"bench-conc"};
  alone.insert(alone.end(), load.begin(), load.end());
  const TempDir dir;
  const Captured one = test::run_program(alone, {{"BRACKETKIT_DB", (dir.path() / "r.db").string()}});
  const Captured three = mpirun(3, load);
  INFO(three.err);
  REQUIRE(three.exit.code == 0);
  const auto expected = parse_json(one.out), together = parse_json(three.out);
  REQUIRE(expected);
  REQUIRE(together);
  CHECK((*together)["ranks"].as_int() == 3);
  CHECK(*(*together)["clock_error_ms_max"].as_double() < 1000);
  REQUIRE((*together)["rows"].items().size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json &row = (*together)["rows"].items()[i], &single = (*expected)["rows"].items()[i];
    for (const char* key : {"cell", "concurrency", "requests", "failed", "good_share"}) {
      CAPTURE(key);
      CHECK(row[key].dump() == single[key].dump());
    }
    // Tokens are the same, so that rate over rate is the time that was taken.
    CHECK(*row["aggregate_tok_s"].as_double() / *row["requests_per_s"].as_double() == Approx(32).epsilon(1e-9));
  }
}

TEST_CASE("a rank's failure ends all of them with one line and a right code") {
  const Captured dead = mpirun(2, {"--base-url", "http://127.0.0.1:1", "-q"});
  CHECK(dead.exit.code == 3);
  CHECK(dead.err.find("bench-conc-mpi: error: cannot connect") != std::string::npos);
  const test::SimEngine engine({"--speed", "10"});
  const Captured wrong = mpirun(2, {"--base-url", engine.url(), "--model", "nope", "-q"});
  CHECK(wrong.exit.code == 2);
  const Captured flag = mpirun(2, {"--no-such-flag"});
  CHECK(flag.exit.code == 2);
}

}  // namespace
}  // namespace bk
