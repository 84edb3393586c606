#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace bk {
void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "internal error: %s does not hold (%s:%d)\n", expression, file, line);
  std::abort();
}
}  // namespace bk
