#include "look.h"

#include <fmt/format.h>

#include "base/process.h"
#include "base/text.h"

namespace bk::fleet_audit {
namespace {

constexpr Nanos kLimit = 60 * kSecond;

std::string last_line(const std::string& text) {
  const std::string_view trimmed = trim(text);
  const std::size_t at = trimmed.rfind('\n');
  return std::string(trimmed.substr(at == std::string_view::npos ? 0 : at + 1));
}

}  // namespace

Result<std::string> look(const std::string& node, const std::string& clock_unit, const std::string& root) {
  Command command;
  if (node == "local") {
    command.argv = {"sh", "-s", "--", clock_unit, root};
  } else {
    command.argv = {"ssh",
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "ConnectTimeout=5",
                    "-o",
                    "StrictHostKeyChecking=yes",
                    "--",
                    node,
                    "sh -s -- " + clock_unit + " ''"};
  }
  const auto ran = run_captured(command, kLimit, kLookScript);
  if (!ran) return fail(ran.error().with("looking at " + node));
  constexpr int kSshFailed = 255;
  if (ran->exit.code == kSshFailed && node != "local")
    return fail(Errc::kConnect, "ssh does not get there: " + last_line(ran->err), node);
  return ran->out;
}

}  // namespace bk::fleet_audit
