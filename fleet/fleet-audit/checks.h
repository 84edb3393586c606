#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::fleet_audit {

enum class Status { kPass, kFail, kUnknown };
[[nodiscard]] const char* to_string(Status status);

/// What a look at one node printed: key -> value, or why there was no look.
struct NodeFacts {
  std::string node;
  std::map<std::string, std::string> values;
  std::string error;  ///< empty: the look was whole
};

/// Reads `key=value` lines. A text without the closing `end=yes` was cut: its error says so.
[[nodiscard]] NodeFacts read_facts(const std::string& node, std::string_view text);

/// One rule over one node, or over all of them (`node` empty).
struct Check {
  std::string rule, node;
  Status status = Status::kUnknown;
  std::string what;  ///< what was found
};

/// Every rule over every node: compaction proactiveness 0, and persisted; one RoCE v2 GID index for the fleet; links at
/// 200000 Mb/s; the clock's cap enabled, and clocks at most `clock_mhz` plus 2 %; free pages of order 10; no container
/// left over. What cannot be read is unknown, never passed. Pure.
[[nodiscard]] std::vector<Check> check_fleet(const std::vector<NodeFacts>& nodes, int clock_mhz);

}  // namespace bk::fleet_audit
