#pragma once
#include <string>
#include <utility>
#include <vector>

namespace bk::http {

/// How a body was coded for its way (RFC 9112, 6.1).
struct TransferCoding {
  bool chunked = false;
  std::string unread;  ///< the codings, as they were named, when they cannot be undone
};
/// From an answer's fields, their names in lower case. "identity" is no coding. "chunked" that is named twice was named
/// by a server and by a proxy before it, which has the chunks once.
[[nodiscard]] TransferCoding transfer_coding(const std::vector<std::pair<std::string, std::string>>& headers);

}  // namespace bk::http
