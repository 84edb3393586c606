#pragma once
#include <string>

#include "manifest/compose.h"
#include "release.h"

namespace bk::overlay {

/// Whether every Python file of a release compiles, by the interpreter `python`; nothing is imported, run or written. A
/// release without such files needs no interpreter.
/// kRefused: a file does not, with module, line and the interpreter's reason. kEnvironment: the interpreter cannot be
/// run or does not answer.
[[nodiscard]] Status check_python_compiles(const manifest::Composition& composition, const Release& release,
                                           const std::string& python);

}  // namespace bk::overlay
