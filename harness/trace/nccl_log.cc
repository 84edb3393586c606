#include "trace/nccl_log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include "base/sha256.h"
#include "base/text.h"

namespace bk::trace {
namespace {

constexpr std::size_t kDigestDigits = 16, kRingLines = 8, kNetworkLines = 6;
constexpr std::string_view kTag = "NCCL INFO";

bool mentions(std::string_view lower, std::string_view word) { return lower.find(word) != std::string_view::npos; }

bool is_network(std::string_view lower) {
  return mentions(lower, "net/") || mentions(lower, "network") || mentions(lower, "using net");
}

bool is_kept(std::string_view lower) {
  constexpr std::array<std::string_view, 7> kWords = {"ring", "tree", "channel", "comm ", "p2p", "nranks", "nrings"};
  return is_network(lower) ||
         std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return mentions(lower, word); });
}

/// Lines are cut, since the expressions recurse by length.
std::string masked(std::string_view text) {
  constexpr std::size_t kLongestLine = 1000;
  static const std::regex kHex("0x[0-9a-fA-F]+"), kPid("\\bpid[ =:]*[0-9]+"), kBracketed("\\[[0-9:]+\\]"),
      kPort(":[0-9]+|<[0-9]+>|port[ =]*[0-9]+"), kIp("ip[0-9]+"), kAddress("[0-9]{1,3}(\\.[0-9]{1,3}){3}");
  std::string line(trim(text.substr(0, kLongestLine)));
  line = std::regex_replace(line, kHex, "H");
  line = std::regex_replace(line, kPid, "pid P");
  line = std::regex_replace(line, kBracketed, "[N]");
  line = std::regex_replace(line, kAddress, "A");  // before its first number is taken for a port
  line = std::regex_replace(line, kPort, ":N");
  return std::regex_replace(line, kIp, "ipN");
}

}  // namespace

NcclFingerprint nccl_fingerprint(std::string_view log) {
  NcclFingerprint result;
  std::string joined;
  for (const std::string_view line : split_lines(log)) {
    const std::size_t tag = line.find(kTag);
    if (tag == std::string_view::npos) continue;
    const std::string_view text = line.substr(tag + kTag.size());
    const std::string lower = to_lower(text);
    if (!is_kept(lower)) continue;
    const std::string shown = masked(text);
    ++result.lines;
    result.rings += mentions(lower, "ring") ? 1 : 0;
    result.trees += mentions(lower, "tree") ? 1 : 0;
    result.channels += mentions(lower, "channel") ? 1 : 0;
    result.network += is_network(lower) ? 1 : 0;
    if (mentions(lower, "ring") && result.ring_lines.size() < kRingLines) result.ring_lines.push_back(shown);
    if (is_network(lower) && result.network_lines.size() < kNetworkLines) result.network_lines.push_back(shown);
    if (!joined.empty()) joined += '\n';
    joined += shown;
  }
  if (result.lines > 0) result.digest = sha256_hex(joined).substr(0, kDigestDigits);
  return result;
}

}  // namespace bk::trace
