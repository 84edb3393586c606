#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "http/peer.h"
#include "http/secrets.h"
#include "http/transfer.h"

namespace bk::http {
namespace {

End::Kind kind_of(CURLcode code, bool sent) {
  switch (code) {
    case CURLE_OK:
      return End::Kind::kComplete;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return End::Kind::kCut;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_URL_MALFORMAT:
    case CURLE_OPERATION_TIMEDOUT:
      return End::Kind::kConnectFailed;
    case CURLE_UNSUPPORTED_PROTOCOL:  // a URL of another scheme; or, once sent, an answer that is not HTTP
      return sent ? End::Kind::kProtocol : End::Kind::kConnectFailed;
    case CURLE_ABORTED_BY_CALLBACK:
      return End::Kind::kCancelled;
    default:
      return End::Kind::kProtocol;
  }
}

std::string system_reason(CURL* easy) {
  long number = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
  if (number == 0 || number == ECONNREFUSED) return "does a server listen there?";
  return std::strerror(static_cast<int>(number));
}

}  // namespace

std::string Transfer::what_failed(CURLcode code) const {
  const std::string detail = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
  if (broke_chunks()) return "the connection to " + peer_ + " broke: what came is no chunk of an answer";
  if (!coding_.empty()) return peer_ + " answered in the transfer coding \"" + coding_ + "\", which is not read";
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      return "cannot connect to " + peer_ + ": " + system_reason(easy());
    case CURLE_COULDNT_RESOLVE_HOST:
      return "cannot find the host of " + peer_;
    case CURLE_GOT_NOTHING:
      return peer_ + " closed the connection before any byte of a response";
    case CURLE_PARTIAL_FILE:
      return peer_ + " closed the connection before the end of the response";
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return "the connection to " + peer_ + " broke: " + detail;
    case CURLE_UNSUPPORTED_PROTOCOL:
      if (sendings_ > 0) return peer_ + " answered with something that is not HTTP";
      [[fallthrough]];
    case CURLE_URL_MALFORMAT:
      return "not an http:// or https:// URL of a server: " + peer_;
    default:
      return peer_ + ": " + detail;
  }
}

End Transfer::end_of(CURLcode code, Nanos at) const {
  if (cancelled_) return {End::Kind::kCancelled, "cancelled", at};
  if (code == CURLE_OK) return {End::Kind::kComplete, {}, at};
  const End::Kind kind = broke_chunks() ? End::Kind::kCut : kind_of(code, sendings_ > 0);
  return {kind, redact(what_failed(code), secrets_of(request_)), at};
}

}  // namespace bk::http
