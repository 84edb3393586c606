#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::boot {

/// The node's name that means this machine, without ssh.
inline constexpr const char* kLocalNode = "local";

/// How nodes are reached: OpenSSH's own client, with its own configuration, keys and known hosts.
struct Ssh {
  std::string config_file;  ///< ssh -F; empty: the user's own
};

/// Why a text is no destination for ssh; nothing when it is one: `host` or `user@host`, or an alias of the ssh
/// configuration, of A-Z a-z 0-9 . _ - : and at most one '@', not starting with '-'.
[[nodiscard]] std::optional<std::string> node_fault(std::string_view node);

/// Destinations between `separator`s, in order; the first is the head. kUsage for a bad one or one named twice.
[[nodiscard]] Result<std::vector<std::string>> parse_nodes(std::string_view text, char separator);

/// Words as one command line for a POSIX shell, each in single quotes where it needs them.
[[nodiscard]] std::string shell_quote(const std::vector<std::string>& words);

/// argv that runs `script` on the node with `sh -c`, its arguments as $1, $2 …. Never asks (BatchMode), refuses a host
/// whose key is not known, gives up a connection after 5 s and a silent one after 15 s. One connection, no shared
/// master: each use of a node is one session.
[[nodiscard]] std::vector<std::string> ssh_argv(const Ssh& ssh, const std::string& node, const std::string& script,
                                                const std::vector<std::string>& arguments);

}  // namespace bk::boot
