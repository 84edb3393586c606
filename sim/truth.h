#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace bk::sim {

/// One token-bearing event: the time just before its bytes were handed to the kernel, and its tokens.
struct SentEvent {
  Nanos at = 0;
  std::int32_t tokens = 0;
};

/// What really happened to one generation request. Times are CLOCK_MONOTONIC.
struct TruthRecord {
  std::int64_t index = 0;
  std::string id, path, client_request_id;
  Nanos arrived = 0;   ///< its first bytes had reached this machine
  Nanos received = 0;  ///< its last byte had been read
  Nanos head_sent = 0;
  Nanos end = 0;  ///< the last byte was handed to the kernel; 0 while it runs
  std::int64_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
  std::string outcome = "running";
  std::vector<SentEvent> events;
};

/// Every generation request of this process, the newest 50,000.
class Truth {
 public:
  TruthRecord& add(std::string id, std::string path, Nanos arrived, Nanos received);
  [[nodiscard]] std::int64_t size() const { return next_index_; }
  /// {"requests": [...]} appended to the members of `head`; only records with index >= since.
  [[nodiscard]] std::string to_json(const Json& head, std::int64_t since) const;

 private:
  std::deque<std::shared_ptr<TruthRecord>> records_;
  std::int64_t next_index_ = 0;
};

}  // namespace bk::sim
