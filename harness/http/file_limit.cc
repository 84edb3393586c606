#include "http/file_limit.h"

#include <sys/resource.h>

#include <string>

namespace bk::http {
namespace {
constexpr std::size_t kOtherFiles = 256;  // database, logs, libraries, epoll
}

Status allow_open_files(std::size_t connections) {
  const rlim_t needed = connections + kOtherFiles;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return {};
  if (limit.rlim_max < needed) {
    return fail(Errc::kEnvironment, std::to_string(connections) + " connections need " + std::to_string(needed) +
                                        " open files; the hard limit is " + std::to_string(limit.rlim_max) +
                                        ": raise it with `ulimit -Hn`");
  }
  limit.rlim_cur = needed;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  return {};
}

}  // namespace bk::http
