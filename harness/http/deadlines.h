#pragma once
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "http/transport.h"

namespace bk::http {

/// Transfers by the time at which they must be looked at. A deadline that moved later is found out when its old one is
/// due, so that data costs no queue work; an entry of a transfer that is gone is simply dropped by the caller.
class Deadlines {
 public:
  void add(Nanos at, TransferId id) { queue_.push({at, id}); }
  [[nodiscard]] std::optional<Nanos> next() const {
    return queue_.empty() ? std::nullopt : std::optional<Nanos>(queue_.top().first);
  }
  /// Takes one that is due, if any.
  std::optional<TransferId> take_due(Nanos now) {
    if (queue_.empty() || queue_.top().first > now) return std::nullopt;
    const TransferId id = queue_.top().second;
    queue_.pop();
    return id;
  }

 private:
  using Entry = std::pair<Nanos, TransferId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace bk::http
