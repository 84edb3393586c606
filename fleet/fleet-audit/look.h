#pragma once
#include <string>

#include "base/result.h"

namespace bk::fleet_audit {

/// What a look at a node runs there with `sh`: it reads, writes nothing, and prints one `key=value` a line. $1 is the
/// name of the unit that caps the GPU's clock; $2 a folder that stands for / where files are read (for tests).
extern const char* const kLookScript;

/// Runs the script on a node, "local" being this machine, and gives what it printed. kConnect, naming the node, when
/// ssh does not get there; kTimeout after a minute.
[[nodiscard]] Result<std::string> look(const std::string& node, const std::string& clock_unit, const std::string& root);

}  // namespace bk::fleet_audit
