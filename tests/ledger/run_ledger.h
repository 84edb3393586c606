#pragma once
#include <sstream>
#include <string>

#include "run.h"

/// The program in this process.
namespace bk::ledger::fixture {

struct Outcome {
  int code;
  std::string out, err;
};

inline Outcome run_ledger(const cli::Args& args) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Streams streams{out, err};
  const int code = cli::run_with("ledger", streams, args, ledger_tool::run);
  return {code, out.str(), err.str()};
}

}  // namespace bk::ledger::fixture
