#pragma once
#include <mutex>

namespace bk {

/// A shared library that is loaded when one of its functions is first called. For those that bring dozens of others
/// with them and that most commands never need: loading them takes longer than everything else such a command does.
class LateLibrary {
 public:
  /// `file` as the loader knows it; `package`: what to install when it is missing.
  constexpr LateLibrary(const char* file, const char* package) : file_(file), package_(package) {}
  /// The address of a function. Where the library or the function is missing the program ends as one does that is
  /// linked with it: one line, and exit code 3.
  [[nodiscard]] void* find(const char* name);

 private:
  const char* file_;
  const char* package_;
  std::once_flag once_;
  void* handle_ = nullptr;
};

}  // namespace bk

/// For a function that has the name of one of the library's and passes its arguments on: `real` is the library's.
#define BK_LATE(library, name) static auto* const real = reinterpret_cast<decltype(&(name))>((library).find(#name))
