#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/process.h"

namespace bk::test {

/// A Python that has `tokenizers`; BK_PYTHON names another interpreter. Nothing, with a word, where it lacks them.
inline std::optional<std::string> python_with_tokenizers() {
  const char* given = std::getenv("BK_PYTHON");
  const std::string python = given == nullptr ? "python3" : given;
  const auto probe = run_captured({{python, "-c", "import tokenizers"}, {}, {}, {}}, 30 * kSecond);
  if (probe && probe->exit.ok()) return python;
  WARN("skipped: " << python << " has no module tokenizers (pip install tokenizers)");
  return std::nullopt;
}

}  // namespace bk::test
