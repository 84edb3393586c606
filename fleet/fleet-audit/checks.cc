#include "checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "base/text.h"

namespace bk::fleet_audit {
namespace {

constexpr std::int64_t kLinkMbits = 200'000;

std::optional<std::string> value_of(const NodeFacts& node, const std::string& key) {
  const auto found = node.values.find(key);
  if (found == node.values.end() || found->second.empty()) return {};
  return found->second;
}

/// The values of every key that starts so, by the rest of the key.
std::map<std::string, std::string> family(const NodeFacts& node, const std::string& start) {
  std::map<std::string, std::string> found;
  for (const auto& [key, value] : node.values) {
    if (key.starts_with(start)) found[key.substr(start.size())] = value;
  }
  return found;
}

Check passed_if(bool ok, std::string what) { return {"", "", ok ? Status::kPass : Status::kFail, std::move(what)}; }
Check unknown(std::string what) { return {"", "", Status::kUnknown, std::move(what)}; }

Check proactiveness(const NodeFacts& node) {
  const auto value = value_of(node, "proactiveness");
  if (!value) return unknown("not readable");
  return passed_if(*value == "0", *value);
}

Check persisted(const NodeFacts& node) {
  const auto value = value_of(node, "persisted");
  if (!value) return unknown("not readable");
  return passed_if(*value == "0", *value == "no" ? "in no sysctl file: a reboot brings the default back" : *value);
}

Check links(const NodeFacts& node) {
  const auto found = family(node, "link.");
  if (found.empty()) return unknown("no link named *np0");
  std::vector<std::string> texts;
  bool ok = true;
  for (const auto& [link, speed] : found) {
    ok = ok && parse_int(speed) == kLinkMbits;
    texts.push_back(link + (speed.empty() ? " is down" : fmt::format(" {} Mb/s", speed)));
  }
  return passed_if(ok, join(texts, ", "));
}

Check clock_cap(const NodeFacts& node) {
  const auto value = value_of(node, "clock_unit");
  if (!value) return unknown("no systemd, or no such unit");
  return passed_if(*value == "enabled", *value);
}

Check clocks(const NodeFacts& node, int clock_mhz) {
  const auto value = value_of(node, "sm_mhz");
  if (!value) return unknown("no GPU that can be asked");
  bool ok = true;
  for (const std::string_view gpu : split(*value, ' ')) {
    if (gpu.empty()) continue;
    const auto now = parse_int(split(gpu, ',').back());
    if (!now) return unknown(*value);
    ok = ok && static_cast<double>(*now) <= 1.02 * clock_mhz;
  }
  return passed_if(ok, fmt::format("most,now MHz: {}", *value));
}

Check large_pages(const NodeFacts& node) {
  const auto value = parse_int(value_of(node, "order10").value_or(""));
  if (!value) return unknown("not readable");
  return passed_if(*value > 0, fmt::format("{} free pages of order 10", *value));
}

Check leftovers(const NodeFacts& node) {
  const auto found = family(node, "leftovers.");
  if (found.empty()) return unknown("no container tool that answers");
  std::vector<std::string> names;
  for (const auto& [tool, left] : found) {
    if (!left.empty()) names.push_back(left);
  }
  return passed_if(names.empty(), names.empty() ? "none" : join(names, " "));
}

/// The first usable GID index has to be the same one everywhere: the launcher takes one number.
Check gid_index(const std::vector<NodeFacts>& nodes) {
  std::set<std::string> indices;
  std::vector<std::string> texts;
  for (const NodeFacts& node : nodes) {
    const auto found = family(node, "gid.");
    if (found.empty()) return unknown(node.node + " has no RoCE device");
    bool usable = false;
    for (const auto& [device, index] : found) {
      if (index == "none") continue;
      usable = true;
      indices.insert(index);
      texts.push_back(fmt::format("{} {} {}", node.node, device, index));
    }
    if (!usable) {
      indices.insert("none");
      texts.push_back(node.node + " has no RoCE v2 GID with an IPv4 address");
    }
  }
  return passed_if(indices.size() == 1 && !indices.contains("none"), join(texts, ", "));
}

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::kPass:
      return "PASS";
    case Status::kFail:
      return "FAIL";
    case Status::kUnknown:
      break;
  }
  return "UNKNOWN";
}

NodeFacts read_facts(const std::string& node, std::string_view text) {
  NodeFacts facts;
  facts.node = node;
  for (const std::string_view line : split_lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    std::string value(trim(line.substr(equals + 1)));
    std::replace_if(
        value.begin(), value.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    facts.values[std::string(line.substr(0, equals))] = value;
  }
  if (facts.values.erase("end") == 0) facts.error = "the look was cut short";
  return facts;
}

std::vector<Check> check_fleet(const std::vector<NodeFacts>& nodes, int clock_mhz) {
  using Rule = std::function<Check(const NodeFacts&)>;
  const std::vector<std::pair<const char*, Rule>> rules = {
      {"compaction.proactiveness", proactiveness},
      {"compaction.persisted", persisted},
      {"link.speed", links},
      {"clock.cap", clock_cap},
      {"clock.sm", [clock_mhz](const NodeFacts& node) { return clocks(node, clock_mhz); }},
      {"memory.order10", large_pages},
      {"containers.leftovers", leftovers},
  };
  std::vector<Check> checks;
  for (const auto& [name, rule] : rules) {
    for (const NodeFacts& node : nodes) {
      Check check = node.error.empty() ? rule(node) : unknown(node.error);
      check.rule = name;
      check.node = node.node;
      checks.push_back(std::move(check));
    }
  }
  const auto silent = std::find_if(nodes.begin(), nodes.end(), [](const NodeFacts& n) { return !n.error.empty(); });
  Check fleet = silent == nodes.end() ? gid_index(nodes) : unknown(silent->node + ": " + silent->error);
  fleet.rule = "roce.gid_index";
  checks.push_back(std::move(fleet));
  return checks;
}

}  // namespace bk::fleet_audit
