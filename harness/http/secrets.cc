#include "http/secrets.h"

#include "base/text.h"
#include "http/peer.h"

namespace bk::http {

std::vector<std::string> secrets_of(const Request& request) {
  std::vector<std::string> secrets{user_info_of(request.url)};
  for (const auto& [name, value] : request.headers) {
    const std::string lower = to_lower(name);
    if (lower.find("auth") == std::string::npos && lower.find("key") == std::string::npos) continue;
    secrets.push_back(value);
    const std::size_t blank = value.rfind(' ');
    if (blank != std::string::npos) secrets.push_back(value.substr(blank + 1));
  }
  std::erase(secrets, std::string());
  return secrets;
}

}  // namespace bk::http
