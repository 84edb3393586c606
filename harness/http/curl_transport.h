#pragma once
#include <curl/curl.h>

#include <array>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "http/deadlines.h"
#include "http/poller.h"
#include "http/receive_stamp.h"
#include "http/transfer.h"
#include "http/transport.h"
#include "http/wake_sharing.h"

namespace bk::http {

/// Transport over libcurl's multi interface. Not thread-safe: one thread owns it.
class CurlTransport final : public Transport {
 public:
  explicit CurlTransport(const TransportOptions& options);
  ~CurlTransport() override;

  TransferId start(Request request, Handler* handler) override;
  void cancel(TransferId id) override;
  std::size_t run(Nanos until) override;
  Status preconnect(const std::string& url, int connections) override;
  Nanos take_worst_delay() override;
  [[nodiscard]] bool stopped() const override { return options_.stopped && options_.stopped(); }

 private:
  struct MultiFree {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };
  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);

  TransferId add(Request request, Handler* handler, Transfer::Purpose purpose);
  void serve(Nanos until, const std::function<bool()>& done);
  void take_orders();
  void enter(Transfer& transfer);
  void wait_and_read(Nanos until);
  void watch(int fd, std::uint32_t events);
  void read_socket(int fd, std::uint32_t events);
  void read_stream(int fd, std::uint32_t events);
  void run_timers();
  void check_limits(Nanos now);
  void watch_limit(Transfer& transfer);
  void take_finished();
  void finish(Transfer& transfer, const End& end);
  [[nodiscard]] Nanos next_wake(Nanos until) const;

  TransportOptions options_;
  LoopState loop_;
  Poller poller_;
  std::unique_ptr<CURLM, MultiFree> multi_;
  std::unordered_map<TransferId, std::unique_ptr<Transfer>> transfers_;
  std::vector<TransferId> starts_, cancels_;
  Deadlines deadlines_;
  StampClock clock_;
  std::array<char, std::size_t{16} * 1024> copy_;  ///< of what waits on a socket
  WakeSharing sharing_;
  TransferId last_id_ = 0;
  Nanos curl_due_ = 0;  // when libcurl wants to be called; 0: no wish
  Nanos hold_until_ = 0;
  Nanos worst_delay_ = 0;
  int running_ = 0;
};

}  // namespace bk::http
