#include "fleet_look.h"

#include <fmt/format.h>

#include "base/process.h"
#include "base/text.h"
#include "boot/fleet_settings.h"
#include "boot/ssh.h"

namespace bk::supervisor {
namespace {

/// ssh itself gives up a connection after 5 s; a container service that is starting may take longer to answer.
constexpr Nanos kLimit = 20 * kSecond;

bool in_containers(const boot::Profile& profile) {
  return profile.runtime == boot::Runtime::kDocker || profile.runtime == boot::Runtime::kPodman;
}

}  // namespace

Status look_at_fleet(const boot::Profile& profile, const std::filesystem::path& root_dir) {
  std::vector<std::string> nodes = profile.nodes;
  if (nodes.empty() && in_containers(profile)) nodes.emplace_back(boot::kLocalNode);
  const std::string ask = in_containers(profile) ? std::string(to_string(profile.runtime)) + " info" : "true";
  for (const std::string& node : nodes) {
    Command command;
    command.argv = node == boot::kLocalNode ? std::vector<std::string>{"sh", "-c", ask}
                                            : boot::ssh_argv(boot::ssh_of(profile, root_dir), node, ask, {});
    const auto ran = run_captured(command, kLimit);
    if (!ran) return fail(ran.error().with("node " + node));
    if (ran->exit.ok()) continue;
    const std::string why(trim(ran->err));
    return fail(Errc::kConnect, fmt::format("node {}: {} gives exit code {}: {}", node, ask, ran->exit.code,
                                            why.substr(why.rfind('\n') + 1)));
  }
  return {};
}

}  // namespace bk::supervisor
