#include "http_request.h"

#include <charconv>

#include "base/text.h"

namespace bk::sim {
namespace {
constexpr std::size_t kMaxHead = 16 * 1024;
constexpr std::size_t kMaxBody = 64 * 1024 * 1024;
}  // namespace

const std::string* HttpRequest::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_name) return &value;
  }
  return nullptr;
}

bool HttpRequestReader::take_expect() { return std::exchange(expect_, false); }

HttpRequestReader::State HttpRequestReader::take(HttpRequest& out) {
  if (!head_) {
    const State state = parse_head();
    if (state != State::kComplete) return state;
  }
  return take_body(out);
}

HttpRequestReader::State HttpRequestReader::parse_head() {
  const std::size_t end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos) return buffer_.size() > kMaxHead ? State::kBad : State::kMore;
  const auto lines = split_lines(std::string_view(buffer_).substr(0, end));
  const auto words = split(lines.empty() ? std::string_view() : lines[0], ' ');
  if (words.size() != 3 || !words[2].starts_with("HTTP/1.")) return State::kBad;
  HttpRequest request;
  request.method = words[0];
  const std::size_t query = words[1].find('?');
  request.path = words[1].substr(0, query);
  if (query != std::string_view::npos) request.query = words[1].substr(query + 1);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].find(':');
    if (colon == std::string_view::npos) return State::kBad;
    request.headers.emplace_back(to_lower(lines[i].substr(0, colon)), trim(lines[i].substr(colon + 1)));
  }
  const std::string* connection = request.header("connection");
  const std::string wish = connection == nullptr ? "" : to_lower(*connection);
  request.keep_alive = words[2] == "HTTP/1.1" ? wish != "close" : wish == "keep-alive";
  body_bytes_ = 0;
  if (const std::string* length = request.header("content-length")) {
    const auto value = parse_int(*length);
    if (!value || *value < 0 || static_cast<std::size_t>(*value) > kMaxBody) return State::kBad;
    body_bytes_ = static_cast<std::size_t>(*value);
  }
  const std::string* coding = request.header("transfer-encoding");
  chunked_ = coding != nullptr && to_lower(*coding) == "chunked";
  expect_ = request.header("expect") != nullptr;
  buffer_.erase(0, end + 4);
  head_ = std::move(request);
  return State::kComplete;
}

HttpRequestReader::State HttpRequestReader::take_body(HttpRequest& out) {
  if (chunked_) {
    const State state = take_chunks();
    if (state != State::kComplete) return state;
  } else {
    if (buffer_.size() < body_bytes_) return State::kMore;
    head_->body = buffer_.substr(0, body_bytes_);
    buffer_.erase(0, body_bytes_);
  }
  expect_ = false;
  out = std::move(*head_);
  head_.reset();
  return State::kComplete;
}

HttpRequestReader::State HttpRequestReader::take_chunks() {
  while (true) {
    const std::size_t line = buffer_.find("\r\n");
    if (line == std::string::npos) return State::kMore;
    std::size_t size = 0;
    const auto parsed = std::from_chars(buffer_.data(), buffer_.data() + line, size, 16);
    if (parsed.ec != std::errc{} || size > kMaxBody || head_->body.size() + size > kMaxBody) return State::kBad;
    if (buffer_.size() < line + 2 + size + 2) return State::kMore;
    head_->body.append(buffer_, line + 2, size);
    buffer_.erase(0, line + 2 + size + 2);
    if (size == 0) return State::kComplete;
  }
}

}  // namespace bk::sim
