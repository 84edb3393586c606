#pragma once
#include <iosfwd>

namespace bk::sim {

struct Streams {
  std::ostream& out;
  std::ostream& err;
};

/// The whole program. Exit codes: 0 done, 1 an injected death, 2 usage, 3 environment (port taken, unreadable script).
int run(Streams streams, int argc, const char* const* argv);

}  // namespace bk::sim
