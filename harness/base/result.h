#pragma once
#include <fmt/core.h>

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace bk {

/// A value or an Error. Expected failures (HTTP, files, parsing) return one; ignoring it does not compile.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

/// An error ready to be returned from any function that gives a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string what, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), std::move(where)});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace bk

/// Returns the error of `expr` from the enclosing function when there is one.
#define BK_TRY(expr)                                                       \
  do {                                                                     \
    if (auto bk_status_ = (expr); !bk_status_) {                           \
      return ::tl::unexpected<::bk::Error>(std::move(bk_status_).error()); \
    }                                                                      \
  } while (false)

#define BK_CONCAT_INNER(a, b) a##b
#define BK_CONCAT(a, b) BK_CONCAT_INNER(a, b)
#define BK_ASSIGN_INNER(tmp, lhs, expr)                                   \
  auto tmp = (expr);                                                      \
  if (!tmp) return ::tl::unexpected<::bk::Error>(std::move(tmp).error()); \
  lhs = std::move(*tmp)
/// `BK_ASSIGN(auto x, f());` takes the value of f(), or returns its error.
#define BK_ASSIGN(lhs, expr) BK_ASSIGN_INNER(BK_CONCAT(bk_result_, __LINE__), lhs, expr)
