#include "http/transfer_coding.h"

#include "base/text.h"

namespace bk::http {

TransferCoding transfer_coding(const std::vector<std::pair<std::string, std::string>>& headers) {
  TransferCoding coding;
  std::string named;
  bool other = false;
  for (const auto& [name, value] : headers) {
    if (name != "transfer-encoding") continue;
    named += (named.empty() ? "" : ", ") + value;
    for (const std::string_view part : split(value, ',')) {
      const std::string one = to_lower(trim(part));
      if (one.empty() || one == "identity") continue;
      (one == "chunked" ? coding.chunked : other) = true;
    }
  }
  if (other) coding = {false, named};
  return coding;
}

}  // namespace bk::http
