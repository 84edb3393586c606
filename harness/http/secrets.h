#pragma once
#include <string>
#include <vector>

#include "http/transport.h"

namespace bk::http {

/// What a request carries that nothing may show, for bk::redact(): user and password of its URL, and the values of
/// headers that authorise, whole and without their scheme. Servers repeat them in what they answer.
[[nodiscard]] std::vector<std::string> secrets_of(const Request& request);

}  // namespace bk::http
