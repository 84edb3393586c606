#include "base/late_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace bk {

void* LateLibrary::find(const char* name) {
  std::call_once(once_, [this] { handle_ = dlopen(file_, RTLD_NOW | RTLD_LOCAL); });
  void* const found = handle_ == nullptr ? nullptr : dlsym(handle_, name);
  if (found != nullptr) return found;
  const char* const why = dlerror();
  fmt::print(stderr, "{}: error: {} is not there or of no use: install {} ({})\n", program_invocation_short_name, file_,
             package_, why == nullptr ? name : why);
  std::fflush(stderr);
  std::_Exit(3);
}

}  // namespace bk
