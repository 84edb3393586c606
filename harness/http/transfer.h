#pragma once
#include <curl/curl.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/chunks.h"
#include "http/receive_stamp.h"
#include "http/sockets.h"
#include "http/transport.h"

namespace bk::http {

/// What the transport tells the transfers that it serves.
struct LoopState {
  ReadStamps stamps;  ///< of what is being read now
  Sockets sockets;
  const TransportOptions* options = nullptr;
};

struct CurlFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// One transfer on one libcurl easy handle. Its address is given to libcurl: it never moves.
class Transfer {
 public:
  enum class Purpose { kRequest, kConnectOnly };
  enum class Phase { kConnecting, kWaiting, kReceiving };

  Transfer(TransferId id, Request request, Handler* handler, Purpose purpose, LoopState* loop);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  [[nodiscard]] TransferId id() const { return id_; }
  [[nodiscard]] CURL* easy() const { return easy_.get(); }
  [[nodiscard]] Handler* handler() const { return handler_; }
  [[nodiscard]] static Transfer* of(CURL* easy);

  void begin(Nanos now) { started_ = now; }
  void cancel() { cancelled_ = true; }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

  /// The next limit that would run out, and what to say then.
  struct Limit {
    Nanos at = 0;
    std::string message;
  };
  [[nodiscard]] std::optional<Limit> limit() const;
  Nanos looked_at = 0;  ///< time of this transfer's entry in the queue of deadlines; 0: none

  /// True when a standing connection ended before any byte, or was of no use: the request may be sent once more.
  [[nodiscard]] bool may_reopen(CURLcode code) const;
  /// Prepares the second sending, on a fresh connection.
  void reopen();
  /// How it ended, in words without secrets.
  [[nodiscard]] End end_of(CURLcode code, Nanos at) const;
  /// The socket that it is on is busy from now, and others may have it after release_socket().
  void use_socket(int fd);
  void release_socket();
  /// A connect-only transfer that succeeded leaves its connection standing for others.
  void leave_standing();

  /// A chunked answer on plain TCP is read without libcurl, whose way from the socket to the body costs more than the
  /// rest of the client: from one chunk's begin to another's, and libcurl, which has not seen those between, reads the
  /// last one and keeps the connection.
  [[nodiscard]] bool reads() const { return reads_; }
  [[nodiscard]] bool may_read() const { return chunks_ && chunks_->between() && !cancelled_; }
  void start_reading();
  /// Takes the chunks of `waiting`, a copy of what waits on the socket. Gives how the transfer ended, if it failed;
  /// reads() is false afterwards when the rest is for libcurl.
  [[nodiscard]] std::optional<End> read_chunks(std::string_view waiting);

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_write(char* data, std::size_t size, std::size_t count, void* self);
  static int on_ready(void* self, char*, char*, int, int local_port);
  static curl_socket_t on_open(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_socket_made(void* self, curl_socket_t fd, curlsocktype purpose);
  static int on_socket_done(void* loop, curl_socket_t fd);

  void set_up();
  void set_up_body();
  void set_up_connection();
  void header_line(std::string_view line);
  void took(std::size_t bytes);
  /// The bytes that were taken: all, or all before the last chunk when that is for libcurl.
  std::size_t take_chunks(std::string_view bytes, bool all);
  [[nodiscard]] bool broke_chunks() const { return chunks_ && chunks_->broken(); }
  [[nodiscard]] std::string what_failed(CURLcode code) const;

  TransferId id_;
  Request request_;
  Handler* handler_;
  Purpose purpose_;
  LoopState* loop_;
  std::string peer_;
  std::unique_ptr<CURL, CurlFree> easy_;
  std::unique_ptr<curl_slist, CurlFree> header_list_;
  std::array<char, CURL_ERROR_SIZE> error_{};

  Phase phase_ = Phase::kConnecting;
  Nanos started_ = 0, sent_ = 0, last_ = 0;
  int status_ = 0;
  std::vector<std::pair<std::string, std::string>> headers_;
  bool headers_given_ = false;
  bool raw_chunks_ = false;  // libcurl hands chunks on as they came
  std::optional<Chunks> chunks_;
  std::string coding_;  // one that is not read
  bool reads_ = false;
  bool cancelled_ = false;
  int fd_ = -1;
  int local_port_ = 0;
  bool took_standing_ = false;  // the socket under way stood already when this transfer asked for one
  bool was_reused_ = false;
  bool unclean_ = false;      // bytes that nobody asked for wait on the kept connection
  bool fresh_ = false;        // the next connection must be a new one
  bool fresh_retry_ = false;  // it was entered again by us
  int sendings_ = 0;
};

}  // namespace bk::http
