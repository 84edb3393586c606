#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "base/json.h"
#include "run.h"
#include "support/run_in_process.h"

namespace bk::test {

inline const std::string kFixtures = std::string(BK_SOURCE_DIR) + "/tests/fixtures/";
inline const std::string kToy = kFixtures + "traces/toy-eager.pt.trace.json.gz";
inline const std::string kVllm = kFixtures + "traces/vllm-0.26.0-decode24.pt.trace.json.gz";

inline Ran run_census(const cli::Args& args) { return run_in_process("census", census::run, args); }

inline Json json_of(cli::Args args) {
  args.emplace_back("--json");
  const Ran ran = run_census(args);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  auto json = parse_json(ran.out);
  REQUIRE(json);
  return *json;
}

inline const Json& row_of(const Json& rows, const std::string& key, const std::string& value) {
  static const Json kNone;
  for (const Json& row : rows.items()) {
    if (row[key].as_string() == value) return row;
  }
  return kNone;
}

}  // namespace bk::test
