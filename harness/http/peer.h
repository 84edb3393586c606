#pragma once
#include <string>

namespace bk::http {

/// The part of a URL that a connection belongs to, "host:port", without user, path or query: safe to print.
[[nodiscard]] std::string peer_of(const std::string& url);
/// Everything in the URL that must not be printed: "user:password" before the host; empty when there is none.
[[nodiscard]] std::string user_info_of(const std::string& url);
/// The URL as it may be printed: without user, password and query.
[[nodiscard]] std::string printable(const std::string& url);
[[nodiscard]] bool is_tls(const std::string& url);

}  // namespace bk::http
