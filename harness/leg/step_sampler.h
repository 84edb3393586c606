#pragma once
#include <string>
#include <vector>

#include "engine/endpoint.h"
#include "http/transport.h"

namespace bk::leg {

/// The engine's own count of steps at one moment.
struct StepReading {
  Nanos at = 0;  ///< CLOCK_MONOTONIC, halfway between the question and the answer's head
  double steps = 0;
};

/// Steps per second between neighbouring readings. Windows that are not positive (a restarted engine, an idle one) and
/// those below half of the median (prefill, the end of a run) are left out. Source: the judging rule of the ledger.
[[nodiscard]] std::vector<double> window_step_rates(const std::vector<StepReading>& readings);

/// Reads the step counter while requests run, on the transport that runs them: call poll() often, from its thread.
class StepSampler final : public http::Handler {
 public:
  /// @param window  time between two readings, nanoseconds.
  StepSampler(http::Transport& transport, const engine::Endpoint& endpoint, Nanos window);

  /// Asks for the metrics page when none is under way and a window has passed since the last.
  void poll();
  /// Gives up a reading that is still under way.
  void finish();
  [[nodiscard]] const std::vector<StepReading>& readings() const { return readings_; }

  void on_sent(Nanos at, Nanos connect, bool reused) override;
  void on_headers(int status, const std::vector<std::pair<std::string, std::string>>& headers, Nanos at) override;
  void on_bytes(std::string_view bytes, Nanos arrival) override;
  void on_reopened() override { body_.clear(); }
  void on_end(const http::End& end) override;

 private:
  http::Transport& transport_;
  const engine::Endpoint& endpoint_;
  Nanos window_, next_;
  http::TransferId under_way_ = 0;
  Nanos sent_ = 0, answered_ = 0;
  int status_ = 0;
  std::string body_;
  std::vector<StepReading> readings_;
};

}  // namespace bk::leg
