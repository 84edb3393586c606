#include "http/peer.h"

#include <string_view>

#include "base/text.h"

namespace bk::http {
namespace {
// What stands between "//" and the first of "/?#".
std::string_view authority_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}
}  // namespace

bool is_tls(const std::string& url) { return to_lower(std::string_view(url).substr(0, 8)) == "https://"; }

bool bare_tcp(const std::string& url, const TransportOptions& options) {
  return !is_tls(url) && options.unix_socket.empty() && !options.use_proxy_env;
}

std::string peer_of(const std::string& url) {
  std::string_view host = authority_of(url);
  const std::size_t at = host.rfind('@');
  if (at != std::string_view::npos) host.remove_prefix(at + 1);
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return to_lower(host) + (has_port ? "" : is_tls(url) ? ":443" : ":80");
}

std::string user_info_of(const std::string& url) {
  const std::string_view host = authority_of(url);
  const std::size_t at = host.rfind('@');
  return at == std::string_view::npos ? std::string() : std::string(host.substr(0, at));
}

std::string printable(const std::string& url) {
  const std::string user = user_info_of(url);
  std::string shown = url.substr(0, url.find_first_of("?#"));
  if (!user.empty()) shown.erase(shown.find(user + "@"), user.size() + 1);
  return shown;
}

}  // namespace bk::http
