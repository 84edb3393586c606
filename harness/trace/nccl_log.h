#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bk::trace {

/// What NCCL chose, from a boot log: equal fingerprints mean the same rings, trees, channels and network.
struct NcclFingerprint {
  std::string digest;       ///< first 16 hex digits of the SHA-256 of the masked lines; empty when there are none
  std::uint64_t lines = 0;  ///< kept lines
  std::uint64_t rings = 0, trees = 0, channels = 0, network = 0;  ///< kept lines that mention each
  std::vector<std::string> ring_lines;                            ///< masked, the first 8
  std::vector<std::string> network_lines;                         ///< masked, the first 6
};

/// Keeps the lines with "NCCL INFO" that speak of rings, trees, channels, NET/IB, the network, comm ranks, P2P or
/// connected rings, takes the text after the tag, and masks what differs from boot to boot: process ids, numbers in
/// brackets, hexadecimal numbers, IPv4 addresses, ports, ip<id>.
[[nodiscard]] NcclFingerprint nccl_fingerprint(std::string_view log);

}  // namespace bk::trace
