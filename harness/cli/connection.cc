#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/common_flags.h"

namespace bk::cli {
namespace {

Result<std::string> checked_key(std::string key, const std::string& from) {
  if (!key.empty() && key.back() == '\n') key.pop_back();
  if (!key.empty() && key.back() == '\r') key.pop_back();
  if (trim(key).empty()) return fail(Errc::kUsage, "the API key is empty", from);
  if (key.find_first_of("\r\n") != std::string::npos) {
    return fail(Errc::kUsage, "the API key has more than one line; keep the key alone there", from);
  }
  for (const char c : key) {
    if (c <= ' ' || c > '~') {
      return fail(Errc::kUsage, "the API key holds a blank or a byte that no header can carry", from);
    }
  }
  return key;
}

constexpr const char* kNameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
constexpr off_t kLargestKeyFile = 64 * 1024;

Result<std::string> key_of_file(const std::string& path) {
  if (path.empty()) return fail(Errc::kUsage, "no file is named", "--api-key-file");
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return fail(Errc::kIo, std::string("the API key's file cannot be read: ") + std::strerror(errno), path);
  }
  if (S_ISREG(info.st_mode) && (info.st_mode & 077U) != 0) {
    return fail(Errc::kUsage,
                fmt::format("the API key's file is open to others (mode {:03o}); run: chmod 600 {}",
                            info.st_mode & 0777U, path),
                path);
  }
  const bool endless = !S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode);
  if (endless || info.st_size > kLargestKeyFile) {
    return fail(Errc::kUsage, "the API key's file is no file of at most 64 KiB", path);
  }
  BK_ASSIGN(std::string key, read_file(path));
  return checked_key(std::move(key), path);
}

bool is_credential(const std::string& header) {
  const std::string name = to_lower(header);
  for (const char* part : {"auth", "key", "token", "secret", "cookie", "password"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

Result<std::pair<std::string, std::string>> split_header(const std::string& text) {
  const auto colon = text.find(':');
  const std::string name(trim(std::string_view(text).substr(0, colon)));
  if (colon == std::string::npos || name.empty() || name.find_first_of(" \t\r\n") != std::string::npos) {
    return fail(Errc::kUsage, "a header is written \"Name: value\"", "--header");
  }
  const std::string value(trim(std::string_view(text).substr(colon + 1)));
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\t') {
      return fail(Errc::kUsage, "the header " + name + " holds a control character", "--header");
    }
  }
  return std::pair(name, value);
}

/// host, host:port, [v6], [v6]:port.
bool has_valid_port(const std::string& authority) {
  const auto colon = authority.find(':', authority.front() == '[' ? authority.find(']') : 0);
  if (colon == std::string::npos) return true;
  const auto port = parse_int(authority.substr(colon + 1));
  return port && *port >= 1 && *port <= 65535;
}

Result<std::string> checked_url(std::string url, const std::string& flag) {
  const auto scheme_end = url.find("://");
  const std::string scheme = scheme_end == std::string::npos ? "" : to_lower(url.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") {
    return fail(Errc::kUsage, fmt::format("\"{}\" is no URL; write http://HOST:PORT", url), flag);
  }
  const auto host_end = url.find_first_of("/?#", scheme_end + 3);
  const std::string authority =
      url.substr(scheme_end + 3, host_end == std::string::npos ? host_end : host_end - scheme_end - 3);
  if (authority.find('@') != std::string::npos) {
    return fail(Errc::kUsage, "a URL may not carry a password; use --api-key-env or --api-key-file", flag);
  }
  if (authority.empty()) return fail(Errc::kUsage, fmt::format("\"{}\" names no host", url), flag);
  if (!has_valid_port(authority)) {
    return fail(Errc::kUsage, fmt::format("the port in \"{}\" is no number from 1 to 65535", authority), flag);
  }
  if (url.find_first_of("?#") != std::string::npos) {
    return fail(Errc::kUsage, "a URL ends before ? and #; what a request needs goes into --header or --extra-body",
                flag);
  }
  return url;
}

void drop_suffix(std::string& text, std::string_view suffix) {
  if (text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0) {
    text.resize(text.size() - suffix.size());
  }
}

}  // namespace

Result<std::string> load_key(const ConnectionFlags& flags) {
  if (!flags.api_key_env.empty() && !flags.api_key_file.empty()) {
    return fail(Errc::kUsage, "--api-key-env and --api-key-file are both given; keep one");
  }
  if (!flags.api_key_file.empty()) return key_of_file(flags.api_key_file);
  if (flags.api_key_env.empty()) return std::string();
  // The key itself is sometimes given here by mistake: what cannot be a name is not repeated.
  if (flags.api_key_env.find_first_not_of(kNameLetters) != std::string::npos) {
    return fail(Errc::kUsage, "the name of an environment variable is needed, not the key itself", "--api-key-env");
  }
  const char* key = std::getenv(flags.api_key_env.c_str());
  if (key == nullptr) {
    return fail(Errc::kUsage, "the API key's environment variable is not set", "--api-key-env " + flags.api_key_env);
  }
  return checked_key(key, "--api-key-env " + flags.api_key_env);
}

Result<Connection> read_connection(const ConnectionFlags& flags, Streams& streams) {
  Connection connection;
  BK_ASSIGN(connection.api_key, load_key(flags));
  if (!connection.api_key.empty()) connection.secrets.push_back(connection.api_key);
  for (const std::string& text : flags.header) {
    BK_ASSIGN(auto header, split_header(text));
    if (is_credential(header.first) && !header.second.empty()) {
      connection.secrets.push_back(header.second);
      // A server that echoes a bad credential leaves out the scheme before it ("Bearer").
      if (const auto blank = header.second.rfind(' '); blank != std::string::npos) {
        connection.secrets.push_back(header.second.substr(blank + 1));
      }
    }
    connection.headers.push_back(std::move(header));
  }
  streams.secrets.insert(streams.secrets.end(), connection.secrets.begin(), connection.secrets.end());
  BK_ASSIGN(connection.base_url, checked_url(flags.base_url, "--base-url"));
  while (!connection.base_url.empty() && connection.base_url.back() == '/') connection.base_url.pop_back();
  drop_suffix(connection.base_url, "/v1");
  if (!flags.metrics_url.empty()) {
    BK_ASSIGN(connection.metrics_url, checked_url(flags.metrics_url, "--metrics-url"));
  }
  if (!flags.extra_body.empty()) {
    const auto body = parse_json(flags.extra_body);
    if (!body) return fail(Errc::kUsage, body.error().what, "--extra-body");
    if (!body->is_object()) return fail(Errc::kUsage, "a JSON object is needed, like {\"top_k\": 1}", "--extra-body");
    connection.extra_body = flags.extra_body;
  }
  connection.model = flags.model;
  if (!flags.ca_file.empty() && access(flags.ca_file.c_str(), R_OK) != 0) {
    return fail(Errc::kIo, std::string("the certificates cannot be read: ") + std::strerror(errno), flags.ca_file);
  }
  connection.ca_file = flags.ca_file;
  connection.unix_socket = flags.unix_socket;
  return connection;
}

}  // namespace bk::cli
