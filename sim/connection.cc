#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "http_server.h"
#include "stamped_read.h"

namespace bk::sim {

const char* status_text(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

Connection::~Connection() { close(fd_); }

Nanos Connection::send(std::string_view bytes) {
  const Nanos now = monotonic_now();
  if (closed_) return now;
  if (!unsent_.empty()) {
    unsent_.append(bytes);
    return now;
  }
  const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  const std::size_t done = sent > 0 ? static_cast<std::size_t>(sent) : 0;
  if (done < bytes.size()) {
    unsent_.assign(bytes.substr(done));
    if (!writable_wanted_) server_.loop_.change(fd_, EPOLLIN | EPOLLRDHUP | EPOLLOUT, this);
    writable_wanted_ = true;
  }
  return now;
}

Nanos Connection::respond(int status, std::string_view content_type, std::string_view body,
                          std::string_view extra_headers) {
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\nserver: sim-engine\r\ncontent-length: {}\r\n", status,
                                  status_text(status), body.size());
  if (!content_type.empty()) bytes += fmt::format("content-type: {}\r\n", content_type);
  bytes += fmt::format("{}{}\r\n", extra_headers, keep_alive_ ? "" : "connection: close\r\n");
  bytes += body;
  const Nanos at = send(bytes);
  finish();
  return at;
}

Nanos Connection::begin_chunked(int status, std::string_view content_type, std::string_view extra_headers) {
  return send(fmt::format(
      "HTTP/1.1 {} {}\r\nserver: sim-engine\r\ncontent-type: {}\r\n{}{}transfer-encoding: chunked\r\n\r\n", status,
      status_text(status), content_type, extra_headers, keep_alive_ ? "" : "connection: close\r\n"));
}

Nanos Connection::send_chunk(std::string_view body) {
  std::string bytes = fmt::format("{:x}\r\n", body.size());
  bytes.append(body).append("\r\n");
  return send(bytes);
}

void Connection::end_chunks() {
  send("0\r\n\r\n");
  finish();
}

void Connection::finish() {
  busy_ = false;
  if (!keep_alive_) {
    closing_ = true;
    if (unsent_.empty()) server_.drop(id_, false);
    return;
  }
  // Not from here: the caller still stands in the handler of the request just answered.
  server_.loop_.later([server = &server_, id = id_] {
    if (Connection* self = server->find(id)) self->serve_next();
  });
}

void Connection::cut() { server_.drop(id_, false); }

void Connection::on_ready(std::uint32_t events) {
  if (closed_) return;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return server_.drop(id_, busy_);
  if ((events & EPOLLOUT) != 0) flush();
  if (!closed_ && (events & (EPOLLIN | EPOLLRDHUP)) != 0) read_some();
}

void Connection::flush() {
  const ssize_t sent = ::send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
  if (!unsent_.empty()) return;
  writable_wanted_ = false;
  server_.loop_.change(fd_, EPOLLIN | EPOLLRDHUP, this);
  if (closing_) server_.drop(id_, false);
}

void Connection::read_some() {
  std::array<char, 64 * 1024> bytes;
  while (true) {
    const auto [got, arrived] = read_stamped(fd_, bytes.data(), bytes.size());
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return server_.drop(id_, busy_);
    if (got < 0) break;
    if (arrived_ == 0) arrived_ = arrived;
    reader_.feed({bytes.data(), static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < bytes.size()) break;
  }
  serve_next();
}

void Connection::serve_next() {
  if (busy_ || closed_ || closing_) return;
  HttpRequest request;
  const auto state = reader_.take(request);
  if (reader_.take_expect()) send("HTTP/1.1 100 Continue\r\n\r\n");
  if (state == HttpRequestReader::State::kMore) return;
  if (state == HttpRequestReader::State::kBad) {
    keep_alive_ = false;
    respond(400, "text/plain", "Invalid HTTP request received.");
    return;
  }
  request.received = monotonic_now();
  // A request that came in one read with the one before has no arrival of its own.
  request.arrived = std::exchange(arrived_, 0);
  if (request.arrived == 0) request.arrived = request.received;
  busy_ = true;
  keep_alive_ = request.keep_alive;
  server_.handler_.on_request(*this, std::move(request));
}

}  // namespace bk::sim
