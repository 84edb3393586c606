#include "boot/ssh.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

std::string quoted(const std::string& word) {
  const auto safe = [](char c) { return is_plain(c) || c == '/' || c == '=' || c == ':' || c == ',' || c == '@'; };
  if (!word.empty() && std::all_of(word.begin(), word.end(), safe)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::optional<std::string> node_fault(std::string_view node) {
  if (node.empty()) return "it is empty";
  if (node.size() > 255) return "it is longer than 255 bytes";
  if (node.front() == '-' || node.find("@-") != std::string_view::npos) return "it starts with '-'";
  if (std::count(node.begin(), node.end(), '@') > 1) return "it has more than one '@'";
  if (node.front() == '@' || node.back() == '@') return "a part beside '@' is missing";
  const auto odd =
      std::find_if_not(node.begin(), node.end(), [](char c) { return is_plain(c) || c == '@' || c == ':'; });
  if (odd == node.end()) return {};
  return fmt::format("it has the character '{}'", manifest::printable(std::string_view(&*odd, 1)));
}

Result<std::vector<std::string>> parse_nodes(std::string_view text, char separator) {
  std::vector<std::string> nodes;
  for (const std::string_view raw : split(text, separator)) {
    const std::string_view name = trim(raw);
    if (name.empty() && separator == ' ') continue;
    if (const auto fault = node_fault(name)) {
      return fail(Errc::kUsage, fmt::format("node '{}': {}", manifest::printable(name), *fault));
    }
    if (std::find(nodes.begin(), nodes.end(), name) != nodes.end()) {
      return fail(Errc::kUsage, fmt::format("node {} is named twice", name));
    }
    nodes.emplace_back(name);
  }
  if (nodes.empty()) return fail(Errc::kUsage, "no node is named");
  return nodes;
}

std::string shell_quote(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  parts.reserve(words.size());
  for (const std::string& word : words) parts.push_back(quoted(word));
  return join(parts, " ");
}

std::vector<std::string> ssh_argv(const Ssh& ssh, const std::string& node, const std::string& script,
                                  const std::vector<std::string>& arguments) {
  if (node == kLocalNode) {
    std::vector<std::string> here = {"sh", "-c", script, "bracketkit"};
    here.insert(here.end(), arguments.begin(), arguments.end());
    return here;
  }
  std::vector<std::string> argv = {"ssh", "-T", "-a", "-x"};
  if (!ssh.config_file.empty()) argv.insert(argv.end(), {"-F", ssh.config_file});
  for (const char* option : {"BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=5", "ServerAliveInterval=5",
                             "ServerAliveCountMax=3", "ControlMaster=no", "ControlPath=none"}) {
    argv.insert(argv.end(), {"-o", option});
  }
  std::vector<std::string> remote = {"exec", "sh", "-c", script, "bracketkit"};
  remote.insert(remote.end(), arguments.begin(), arguments.end());
  argv.insert(argv.end(), {"--", node, shell_quote(remote)});
  return argv;
}

}  // namespace bk::boot
