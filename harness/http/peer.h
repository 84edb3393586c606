#pragma once
#include <string>

#include "http/transport.h"

namespace bk::http {

/// The part of a URL that a connection belongs to, "host:port", without user, path or query: safe to print.
[[nodiscard]] std::string peer_of(const std::string& url);
/// Everything in the URL that must not be printed: "user:password" before the host; empty when there is none.
[[nodiscard]] std::string user_info_of(const std::string& url);
/// The URL as it may be printed: without user, password and query.
[[nodiscard]] std::string printable(const std::string& url);
[[nodiscard]] bool is_tls(const std::string& url);
/// The bytes on the socket are HTTP's own and the host's: no TLS, neither with it nor with a proxy, on TCP.
[[nodiscard]] bool bare_tcp(const std::string& url, const TransportOptions& options);

}  // namespace bk::http
