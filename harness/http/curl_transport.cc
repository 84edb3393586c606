#include "http/curl_transport.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "http/file_limit.h"
#include "http/peer.h"

namespace bk::http {
namespace {

constexpr long kIdleConnectionsKept = 16384;
// What waits is taken whole, and the kernel need not look at each such socket once more before the next wait.
constexpr std::uint32_t kChanges = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr Nanos kPreconnectLimit = 10 * kSecond;

// libcurl's set-up loads the TLS library: programs that never open a connection do not pay for it.
void init_curl_once() {
  static std::once_flag flag;
  std::call_once(flag, [] { BK_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
}

/// Collects how many connections were made, and the first failure.
class ConnectHandler final : public Handler {
 public:
  explicit ConnectHandler(int wanted) : left(wanted) {}
  void on_sent(Nanos, Nanos, bool) override {}
  void on_headers(int, const std::vector<std::pair<std::string, std::string>>&, Nanos) override {}
  void on_bytes(std::string_view, Nanos) override {}
  void on_end(const End& end) override {
    --left;
    const bool unreached = end.kind == End::Kind::kConnectFailed || end.kind == End::Kind::kTimedOut;
    if (unreached && failure.kind == End::Kind::kComplete) failure = end;
  }
  int left;
  End failure;
};

}  // namespace

CurlTransport::CurlTransport(const TransportOptions& options) : options_(options) {
  init_curl_once();
  loop_.options = &options_;
  multi_.reset(curl_multi_init());
  BK_CHECK(multi_ != nullptr);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &CurlTransport::on_socket);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &CurlTransport::on_timer);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kIdleConnectionsKept);
  curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, options_.http2 ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING);
}

CurlTransport::~CurlTransport() {
  for (auto& [id, transfer] : transfers_) curl_multi_remove_handle(multi_.get(), transfer->easy());
  transfers_.clear();
  multi_.reset();
  loop_.sockets.close_standing();
}

TransferId CurlTransport::start(Request request, Handler* handler) {
  return add(std::move(request), handler, Transfer::Purpose::kRequest);
}

TransferId CurlTransport::add(Request request, Handler* handler, Transfer::Purpose purpose) {
  const TransferId id = ++last_id_;
  transfers_.emplace(id, std::make_unique<Transfer>(id, std::move(request), handler, purpose, &loop_));
  starts_.push_back(id);
  return id;
}

void CurlTransport::cancel(TransferId id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  found->second->cancel();
  cancels_.push_back(id);
}

std::size_t CurlTransport::run(Nanos until) {
  serve(until, [this] { return transfers_.empty(); });
  return transfers_.size();
}

void CurlTransport::serve(Nanos until, const std::function<bool()>& done) {
  while (true) {
    take_orders();
    run_timers();
    check_limits(monotonic_now());
    if (!cancels_.empty() || !starts_.empty()) continue;
    if (done() || (until != 0 && monotonic_now() >= until)) return;
    wait_and_read(until);
  }
}

void CurlTransport::take_orders() {
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const auto found = transfers_.find(starts_[i]);
    if (found != transfers_.end()) enter(*found->second);
  }
  starts_.clear();
  for (const TransferId id : std::exchange(cancels_, {})) {
    const auto found = transfers_.find(id);
    if (found != transfers_.end()) finish(*found->second, found->second->end_of(CURLE_OK, monotonic_now()));
  }
}

void CurlTransport::enter(Transfer& transfer) {
  transfer.begin(monotonic_now());
  watch_limit(transfer);
  curl_multi_add_handle(multi_.get(), transfer.easy());
}

void CurlTransport::watch_limit(Transfer& transfer) {
  const auto limit = transfer.limit();
  if (!limit || (transfer.looked_at != 0 && transfer.looked_at <= limit->at)) return;
  transfer.looked_at = limit->at;
  deadlines_.add(limit->at, transfer.id());
}

void CurlTransport::run_timers() {
  // Calls may set the next due time to now: libcurl starts every waiting transfer that way.
  while (curl_due_ != 0 && curl_due_ <= monotonic_now()) {
    curl_due_ = 0;
    curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running_);
    take_finished();
  }
}

void CurlTransport::check_limits(Nanos now) {
  while (const auto id = deadlines_.take_due(now)) {
    const auto found = transfers_.find(*id);
    if (found == transfers_.end()) continue;
    Transfer& transfer = *found->second;
    transfer.looked_at = 0;
    const auto limit = transfer.limit();
    if (limit && limit->at <= now) {
      finish(transfer, {End::Kind::kTimedOut, limit->message, now});
    } else {
      watch_limit(transfer);
    }
  }
}

Nanos CurlTransport::next_wake(Nanos until) const {
  Nanos at = until;
  const auto sooner = [&at](Nanos other) { at = at == 0 ? other : std::min(at, other); };
  if (curl_due_ != 0) sooner(curl_due_);
  if (const auto limit = deadlines_.next()) sooner(*limit);
  return at;
}

void CurlTransport::wait_and_read(Nanos until) {
  const Nanos wake = next_wake(until);
  if (hold_until_ != 0) {
    SystemClock().sleep_until(wake == 0 ? hold_until_ : std::min(wake, hold_until_));
  }
  const auto ready = poller_.wait(wake);
  if (ready.empty()) return;
  clock_.refresh();
  std::size_t fresh = 0;
  std::size_t stamped = 0;
  Nanos newest = 0;
  const unsigned window = sharing_.window();
  for (const epoll_event& event : ready) {
    Socket& socket = loop_.sockets.at(event.data.fd);
    if (socket.window != window) ++fresh;
    socket.window = window;
    loop_.stamps.clear();
    const bool by_us = socket.streams != nullptr && socket.streams->reads();
    char* const copy = by_us ? copy_.data() : nullptr;
    // A look at a connection that failed would take the error, and leave libcurl what seems to be an orderly end.
    const bool failed = (event.events & EPOLLERR) != 0;
    if (!failed && (by_us || socket.stamps))
      loop_.stamps.look(event.data.fd, clock_, &socket.typical_bytes, copy, copy_.size());
    if (socket.stamps && loop_.stamps.stamped()) ++stamped;
    newest = std::max(newest, loop_.stamps.newest());
    if (loop_.stamps.oldest() != 0) worst_delay_ = std::max(worst_delay_, monotonic_now() - loop_.stamps.oldest());
    if (by_us) {
      read_stream(event.data.fd, event.events);
    } else {
      read_socket(event.data.fd, event.events);
    }
  }
  loop_.stamps.clear();
  const Nanos hold = sharing_.after_wake(clock_.now(), ready.size(), fresh, stamped, newest);
  hold_until_ = hold == 0 ? 0 : clock_.now() + hold;
}

void CurlTransport::read_socket(int fd, std::uint32_t events) {
  int what = 0;
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP)) != 0) what |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
  if ((events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
  const int before = running_;
  curl_multi_socket_action(multi_.get(), fd, what, &running_);
  if (running_ != before) take_finished();
  const Socket& socket = loop_.sockets.at(fd);
  const bool sends = (socket.events & EPOLLOUT) != 0;  // the request, still: libcurl must not be paused
  Transfer* const stream = socket.streams;
  if (stream == nullptr || sends || stream->reads() || !stream->may_read()) return;
  stream->start_reading();
  watch(fd, kChanges);
}

void CurlTransport::read_stream(int fd, std::uint32_t events) {
  Transfer& stream = *loop_.sockets.at(fd).streams;
  const ssize_t bytes = loop_.stamps.bytes();
  const auto end = stream.read_chunks({copy_.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))});
  if (end) {
    finish(stream, *end);
  } else if (!stream.reads()) {
    watch(fd, EPOLLIN);
    read_socket(fd, EPOLLIN);
  } else if (bytes == static_cast<ssize_t>(copy_.size()) || (events & EPOLLRDHUP) != 0) {
    poller_.watch(fd, kChanges, true);  // more may wait, or the end behind the bytes: setting it tells of that anew
  }
}

void CurlTransport::take_finished() {
  const Nanos arrival = loop_.stamps.newest();
  int queued = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &queued)) {
    if (message->msg != CURLMSG_DONE) continue;
    Transfer& transfer = *Transfer::of(message->easy_handle);
    const CURLcode code = message->data.result;
    if (transfer.may_reopen(code)) {
      curl_multi_remove_handle(multi_.get(), transfer.easy());
      transfer.reopen();
      enter(transfer);
      continue;
    }
    finish(transfer, transfer.end_of(code, arrival != 0 ? arrival : monotonic_now()));
  }
}

void CurlTransport::finish(Transfer& transfer, const End& end) {
  const auto node = transfers_.extract(transfer.id());
  if (end.kind == End::Kind::kComplete) transfer.leave_standing();
  curl_multi_remove_handle(multi_.get(), transfer.easy());
  transfer.release_socket();
  transfer.handler()->on_end(end);
}

Status CurlTransport::preconnect(const std::string& url, int connections) {
  BK_TRY(allow_open_files(static_cast<std::size_t>(std::max(connections, 0))));
  const std::string peer = options_.unix_socket.empty() ? peer_of(url) : options_.unix_socket;
  const auto idle = static_cast<int>(loop_.sockets.idle(peer));
  const int wanted = options_.http2 ? std::min(connections, 1) : connections;
  ConnectHandler handler(std::max(0, wanted - idle));
  Request request;
  request.method = "GET";
  request.url = url.substr(0, url.find("://") + 3) + peer_of(url) + "/";
  request.timeouts.connect = request.timeouts.total = kPreconnectLimit;
  // libcurl connects a standing socket once more: TCP allows it, a unix socket does not.
  const bool bare = bare_tcp(url, options_);
  for (int i = 0, n = handler.left; i < n; ++i) {
    add(request, &handler, bare ? Transfer::Purpose::kConnectOnly : Transfer::Purpose::kRequest);
  }
  serve(0, [&handler] { return handler.left == 0; });
  if (handler.failure.kind == End::Kind::kComplete) return {};
  const Errc code = handler.failure.kind == End::Kind::kTimedOut ? Errc::kTimeout : Errc::kConnect;
  return fail(code, handler.failure.message, peer);
}

Nanos CurlTransport::take_worst_delay() { return std::exchange(worst_delay_, 0); }

int CurlTransport::on_socket(CURL* easy, curl_socket_t fd, int what, void* self, void*) {
  auto& t = *static_cast<CurlTransport*>(self);
  const Transfer* stream = t.loop_.sockets.at(fd).streams;
  if (stream != nullptr && stream->reads()) return 0;  // paused, it wants none of what still has to be watched
  Transfer* transfer = what == CURL_POLL_REMOVE ? nullptr : Transfer::of(easy);
  if (transfer != nullptr) transfer->use_socket(fd);
  std::uint32_t events = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
  t.watch(fd, events);
  return 0;
}

void CurlTransport::watch(int fd, std::uint32_t events) {
  Socket& socket = loop_.sockets.at(fd);
  if (socket.watched && socket.events == events) return;
  if (socket.watched || events != 0) poller_.watch(fd, events, socket.watched);
  socket.watched = events != 0;
  socket.events = events;
}

int CurlTransport::on_timer(CURLM*, long timeout_ms, void* self) {
  auto& t = *static_cast<CurlTransport*>(self);
  t.curl_due_ = timeout_ms < 0 ? 0 : monotonic_now() + timeout_ms * kMillisecond;
  return 0;
}

std::unique_ptr<Transport> make_curl_transport(const TransportOptions& options) {
  return std::make_unique<CurlTransport>(options);
}

}  // namespace bk::http
