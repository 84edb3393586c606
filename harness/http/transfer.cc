#include "http/transfer.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/check.h"
#include "base/socket_stamp.h"
#include "base/text.h"
#include "base/version.h"
#include "http/peer.h"
#include "http/transfer_coding.h"

namespace bk::http {
namespace {

constexpr long kReadBuffer = 16 * 1024;
constexpr long kNoLimitMs = 0x7fffffff;  // libcurl's own default would end a connect after 300 s

Nanos connect_time(CURL* easy) {
  curl_off_t tcp_us = 0;
  curl_off_t tls_us = 0;
  curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &tcp_us);
  curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &tls_us);
  return std::max(tcp_us, tls_us) * kMicrosecond;
}

}  // namespace

Transfer::Transfer(TransferId id, Request request, Handler* handler, Purpose purpose, LoopState* loop)
    : id_(id),
      request_(std::move(request)),
      handler_(handler),
      purpose_(purpose),
      loop_(loop),
      peer_(loop->options->unix_socket.empty() ? peer_of(request_.url) : loop->options->unix_socket),
      easy_(curl_easy_init()) {
  BK_CHECK(easy_ != nullptr);
  set_up();
}

Transfer* Transfer::of(CURL* easy) {
  char* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  return reinterpret_cast<Transfer*>(self);
}

void Transfer::set_up() {
  CURL* e = easy();
  curl_easy_setopt(e, CURLOPT_PRIVATE, this);
  curl_easy_setopt(e, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(e, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(e, CURLOPT_NOPROGRESS, 1L);
  curl_easy_setopt(e, CURLOPT_BUFFERSIZE, kReadBuffer);
  curl_easy_setopt(e, CURLOPT_USERAGENT, (std::string("bracketkit/") + version()).c_str());
  curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(e, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, &Transfer::on_write);
  curl_easy_setopt(e, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, &Transfer::on_ready);
  curl_easy_setopt(e, CURLOPT_PREREQDATA, this);
  set_up_body();
  set_up_connection();
}

void Transfer::set_up_body() {
  CURL* e = easy();
  curl_slist* list = nullptr;
  bool has_type = false;
  for (const auto& [name, value] : request_.headers) {
    list = curl_slist_append(list, (value.empty() ? name + ";" : name + ": " + value).c_str());
    has_type = has_type || to_lower(name) == "content-type";
  }
  const bool has_body = !request_.body.empty() || request_.method == "POST";
  if (has_body && !has_type) list = curl_slist_append(list, "Content-Type: application/json");
  list = curl_slist_append(list, "Expect:");
  header_list_.reset(list);
  curl_easy_setopt(e, CURLOPT_HTTPHEADER, list);
  if (has_body) {
    curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(e, CURLOPT_POSTFIELDS, request_.body.data());
  }
  if (request_.method == "HEAD") {
    curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
  } else if (request_.method != (has_body ? "POST" : "GET")) {
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
}

void Transfer::set_up_connection() {
  CURL* e = easy();
  const TransportOptions& options = *loop_->options;
  if (!options.unix_socket.empty()) curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, options.unix_socket.c_str());
  if (!options.ca_file.empty()) curl_easy_setopt(e, CURLOPT_CAINFO, options.ca_file.c_str());
  if (!options.use_proxy_env) curl_easy_setopt(e, CURLOPT_PROXY, "");
  if (!options.reuse_connections) curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
  long version = CURL_HTTP_VERSION_1_1;
  if (options.http2) version = is_tls(request_.url) ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
  curl_easy_setopt(e, CURLOPT_HTTP_VERSION, version);
  curl_easy_setopt(e, CURLOPT_PIPEWAIT, options.http2 ? 1L : 0L);
  curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, kNoLimitMs);
  curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_open);
  curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, &Transfer::on_socket_made);
  curl_easy_setopt(e, CURLOPT_SOCKOPTDATA, this);
  curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, &Transfer::on_socket_done);
  curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, loop_);
  if (purpose_ == Purpose::kConnectOnly) curl_easy_setopt(e, CURLOPT_CONNECT_ONLY, 1L);
  raw_chunks_ = bare_tcp(request_.url, options) && !options.http2;
  if (raw_chunks_) curl_easy_setopt(e, CURLOPT_HTTP_TRANSFER_DECODING, 0L);
}

curl_socket_t Transfer::on_open(void* self, curlsocktype purpose, curl_sockaddr* address) {
  auto& t = *static_cast<Transfer*>(self);
  t.took_standing_ = false;
  if (purpose != CURLSOCKTYPE_IPCXN) return CURL_SOCKET_BAD;
  if (t.purpose_ == Purpose::kRequest && !t.fresh_) {
    const int standing = t.loop_->sockets.take_standing(t.peer_);
    t.took_standing_ = standing >= 0;
    if (t.took_standing_) {
      t.use_socket(standing);
      return standing;
    }
  }
  const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
  if (fd < 0) return CURL_SOCKET_BAD;
  const bool tcp = address->family == AF_INET || address->family == AF_INET6;
  if (tcp) enable_receive_stamps(fd);
  t.loop_->sockets.opened(fd, t.peer_, tcp);
  return fd;
}

int Transfer::on_socket_made(void* self, curl_socket_t, curlsocktype) {
  return static_cast<Transfer*>(self)->took_standing_ ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
}

int Transfer::on_socket_done(void* loop, curl_socket_t fd) {
  static_cast<LoopState*>(loop)->sockets.given_up(fd);
  return 0;
}

int Transfer::on_ready(void* self, char*, char*, int, int local_port) {
  auto& t = *static_cast<Transfer*>(self);
  if (t.cancelled_) return CURL_PREREQFUNC_ABORT;
  long made = 0;
  curl_easy_getinfo(t.easy(), CURLINFO_NUM_CONNECTS, &made);
  t.local_port_ = local_port;
  // libcurl takes a kept connection on which bytes wait for a good one.
  t.unclean_ = t.raw_chunks_ && made == 0 && t.loop_->sockets.unasked_waits(t.peer_, local_port);
  if (t.unclean_) return CURL_PREREQFUNC_ABORT;
  if (t.sendings_++ > 0) t.handler_->on_reopened();
  t.was_reused_ = (made == 0 || t.took_standing_) && !t.fresh_;
  // libcurl sends again by itself when a reused connection ends before any byte: it shall do so once, on a new one.
  if (t.was_reused_) {
    curl_easy_setopt(t.easy(), CURLOPT_FRESH_CONNECT, 1L);
    t.fresh_ = true;
  }
  t.phase_ = Phase::kWaiting;
  const Nanos connect = t.was_reused_ ? 0 : connect_time(t.easy());
  t.sent_ = t.last_ = monotonic_now();
  t.handler_->on_sent(t.sent_, connect, t.was_reused_);
  return CURL_PREREQFUNC_OK;
}

// Bytes of this read are handed on; notes when they came.
void Transfer::took(std::size_t bytes) {
  const Nanos at = loop_->stamps.take(bytes);
  last_ = std::max(at != 0 ? at : monotonic_now(), last_);
}

void Transfer::header_line(std::string_view line) {
  line = trim(line);
  if (line.substr(0, 5) == "HTTP/") {
    const std::size_t blank = line.find(' ');
    const auto status = blank == std::string_view::npos ? std::nullopt : parse_int(line.substr(blank + 1, 3));
    status_ = static_cast<int>(status.value_or(0));
    headers_.clear();
    return;
  }
  if (line.empty()) {
    if (status_ < 200) return;  // 1xx: the answer is still to come
    headers_given_ = true;
    const bool has_body = request_.method != "HEAD" && status_ != 204 && status_ != 304;
    if (raw_chunks_ && has_body) {
      const TransferCoding coding = transfer_coding(headers_);
      if (coding.chunked) chunks_.emplace();
      coding_ = coding.unread;
    }
    if (chunks_ && fd_ >= 0) loop_->sockets.at(fd_).streams = this;
    handler_->on_headers(status_, headers_, last_);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  headers_.emplace_back(to_lower(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& t = *static_cast<Transfer*>(self);
  t.phase_ = Phase::kReceiving;
  t.took(size * count);
  if (!t.cancelled_ && !t.headers_given_) t.header_line({data, size * count});
  return t.coding_.empty() ? size * count : 0;
}

std::size_t Transfer::on_write(char* data, std::size_t size, std::size_t count, void* self) {
  auto& t = *static_cast<Transfer*>(self);
  if (t.chunks_) {
    t.take_chunks({data, size * count}, true);
    return t.broke_chunks() ? 0 : size * count;
  }
  t.took(size * count);
  if (!t.cancelled_) t.handler_->on_bytes({data, size * count}, t.last_);
  return size * count;
}

std::size_t Transfer::take_chunks(std::string_view bytes, bool all) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    if (!all && chunks_->between() && bytes[taken] == '0') break;
    const Chunks::Piece piece = chunks_->next(bytes.substr(taken));
    if (piece.consumed == 0) break;
    took(piece.consumed);
    if (!piece.data.empty() && !cancelled_) handler_->on_bytes(piece.data, last_);
    taken += piece.consumed;
  }
  return taken;
}

void Transfer::start_reading() {
  reads_ = true;
  // Paused in one direction alone, libcurl would read once more.
  curl_easy_pause(easy(), CURLPAUSE_ALL);
}

std::optional<End> Transfer::read_chunks(std::string_view waiting) {
  const std::size_t taken = take_chunks(waiting, false);
  // TCP drops what it is not given room for.
  if (taken > 0 && recv(fd_, nullptr, taken, MSG_TRUNC | MSG_DONTWAIT) != static_cast<ssize_t>(taken)) {
    return end_of(CURLE_RECV_ERROR, monotonic_now());
  }
  if (broke_chunks()) return end_of(CURLE_RECV_ERROR, monotonic_now());
  if (waiting.empty() || taken < waiting.size()) {
    reads_ = false;
    curl_easy_pause(easy(), CURLPAUSE_CONT);
  }
  return std::nullopt;
}

bool Transfer::may_reopen(CURLcode code) const {
  if (cancelled_ || fresh_retry_) return false;
  if (code == CURLE_ABORTED_BY_CALLBACK) return unclean_;
  // Some libcurl versions connect a standing socket again, which a system may refuse.
  if (code == CURLE_COULDNT_CONNECT) return took_standing_;
  const bool ended = code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR;
  return ended && phase_ == Phase::kWaiting && was_reused_ && sendings_ == 1;
}

void Transfer::reopen() {
  release_socket();
  phase_ = Phase::kConnecting;
  fresh_ = fresh_retry_ = true;
  curl_easy_setopt(easy(), CURLOPT_FRESH_CONNECT, 1L);
  error_[0] = '\0';
}

void Transfer::use_socket(int fd) {
  fd_ = fd;
  Socket& socket = loop_->sockets.at(fd);
  socket.busy = true;
  if (chunks_) socket.streams = this;  // the head came before libcurl named the socket
}

void Transfer::release_socket() {
  if (fd_ >= 0) {
    Socket& socket = loop_->sockets.at(fd_);
    socket.busy = false;
    socket.local_port = local_port_;
    socket.streams = nullptr;
  }
  fd_ = -1;
}

void Transfer::leave_standing() {
  if (purpose_ != Purpose::kConnectOnly) return;
  curl_socket_t fd = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy(), CURLINFO_ACTIVESOCKET, &fd);
  if (fd >= 0) loop_->sockets.at(fd).keep = true;
}

std::optional<Transfer::Limit> Transfer::limit() const {
  std::optional<Limit> first;
  const auto consider = [&first](Nanos from, Nanos length, const char* what) {
    if (length <= 0 || (first && first->at <= from + length)) return;
    first = Limit{from + length, what + human_duration(to_s(length))};
  };
  consider(started_, request_.timeouts.total, "not finished within ");
  if (phase_ == Phase::kConnecting) consider(started_, request_.timeouts.connect, "no connection within ");
  if (phase_ == Phase::kWaiting) consider(sent_, request_.timeouts.first_byte, "no first byte within ");
  if (phase_ == Phase::kReceiving) consider(last_, request_.timeouts.idle, "nothing more came for ");
  return first;
}

}  // namespace bk::http
