#include "load/honesty.h"

namespace bk::load {

std::vector<std::string> client_marks(const ClientCost& client) {
  std::vector<std::string> marks;
  if (client.cpu_share > kBusyClientShare) marks.emplace_back("client_cpu");
  if (client.worst_delay > kLateClientDelay) marks.emplace_back("client_delay");
  return marks;
}

}  // namespace bk::load
