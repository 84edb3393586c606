#pragma once

namespace bk {
/// Prints the broken invariant to stderr and aborts.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}  // namespace bk

/// A broken invariant is a bug: abort, in release builds too.
#define BK_CHECK(condition) ((condition) ? void(0) : ::bk::check_failed(#condition, __FILE__, __LINE__))
