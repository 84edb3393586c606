#include "stream/timeline.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "stream/figures.h"

namespace bk::stream {
namespace {

constexpr std::size_t kMaxWholeBody = std::size_t{16} << 20;

// One reader a thread: its buffers stay warm, and ten thousand open streams do not hold ten thousand parsers. Its
// results depend on the bytes given alone.
ChunkReader& shared_reader() {
  thread_local ChunkReader reader;
  return reader;
}

bool is_failure(std::string_view finish_reason) { return finish_reason == "abort" || finish_reason == "error"; }

bool is_refusal(int status) { return status != 0 && (status < 200 || status > 299); }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string printable(std::string_view text) {
  std::string out(trim(text));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < 0x20 || c == 0x7f; }, '?');
  return out;
}

}  // namespace

void Timeline::sent(Nanos at, Nanos connect, bool reused) {
  record_.sent = at;
  record_.connection_reused = reused;
  record_.connect = reused ? std::nullopt : std::optional<Nanos>(connect);
}

void Timeline::reopened() {
  ++record_.reopened;
  record_.sent = 0;
  record_.connection_reused = false;
  record_.connect.reset();
}

void Timeline::headers(int status, std::string_view content_type, Nanos at) {
  record_.http_status = status;
  record_.headers = at - record_.sent;
  event_stream_ = to_lower(content_type).find("text/event-stream") != std::string::npos;
}

void Timeline::bytes(std::string_view bytes, Nanos arrival) {
  if (bytes.empty()) return;
  arrival_ = std::max(arrival_, arrival - record_.sent);
  ++read_;
  if (body_mode_ == Body::kUnknown) {
    const auto first = std::find_if_not(bytes.begin(), bytes.end(), is_blank);
    const bool json = first != bytes.end() && (*first == '{' || *first == '[');
    body_mode_ = is_refusal(record_.http_status) || (json && !event_stream_) ? Body::kWhole : Body::kSse;
  }
  if (body_mode_ == Body::kWhole) {
    body_.append(bytes.substr(0, kMaxWholeBody - body_.size()));
    return;
  }
  parser_.feed(bytes);
  drain();
}

void Timeline::drain() {
  while (const SseEvent* next = parser_.next()) {
    if (next->kind == SseEvent::Kind::kStrayLine) {
      stray_line(next->data);
    } else {
      event(*next);
    }
  }
}

// A line that belongs to no event: an error that was not framed, or a body that is something else.
void Timeline::stray_line(std::string_view line) {
  constexpr std::string_view kErrorField = "error:";
  if (line.substr(0, kErrorField.size()) == kErrorField) {
    fail_with(shared_reader().error_message(line.substr(kErrorField.size())));
    return;
  }
  if (line.front() == '{') {
    const Chunk& chunk = shared_reader().read(line);
    if (chunk.kind == Chunk::Kind::kError) fail_with(std::string(chunk.error));
  }
  if (!stray_) stray_ = std::string(line.substr(0, 120));
}

void Timeline::event(const SseEvent& event) {
  if (record_.done_seen) return;
  ChunkReader& reader = shared_reader();
  const Chunk& chunk = reader.read(event.data, event.readable_after);
  if (chunk.kind == Chunk::Kind::kNothing) return;
  ++record_.data_events;
  if (!record_.ttfr) record_.ttfr = arrival_;
  if (event.type == "error") {
    fail_with(reader.error_message(event.data));
    return;
  }
  switch (chunk.kind) {
    case Chunk::Kind::kChunk:
      return this->chunk(chunk);
    case Chunk::Kind::kDone:
      record_.done_seen = true;
      return;
    case Chunk::Kind::kError:
      return fail_with(std::string(chunk.error));
    case Chunk::Kind::kBroken:
      if (!broken_) broken_ = std::string(chunk.error);
      return;
    case Chunk::Kind::kNothing:
      return;
  }
}

void Timeline::chunk(const Chunk& chunk) {
  chunk_seen_ = true;
  if (record_.model.empty()) record_.model.assign(chunk.model);
  if (!chunk.finish_reason.empty()) {
    record_.finish_reason.assign(chunk.finish_reason);
    finish_seen_ = true;
    if (is_failure(chunk.finish_reason)) fail_with("finish_reason " + record_.finish_reason);
  }
  if (chunk.usage) {
    record_.usage = chunk.usage;
    usage_is_final_ = finish_seen_;
  }
  if (chunk.timings) record_.timings = chunk.timings;
  if (chunk.bears_tokens) token_event(chunk);
}

void Timeline::token_event(const Chunk& chunk) {
  if (!record_.ttft) {
    record_.ttft = arrival_;
    first_token_read_ = read_;
  }
  last_token_read_ = read_;
  record_.last_token = arrival_;
  if (chunk.bears_answer && !record_.first_answer) record_.first_answer = arrival_;
  record_.events.push_back({arrival_, chunk.token_ids});
  ids_everywhere_ = ids_everywhere_ && chunk.token_ids >= 0;
  ids_total_ += std::max(chunk.token_ids, 0);
  running_everywhere_ = running_everywhere_ && chunk.usage && chunk.usage->completion_tokens;
  if (running_everywhere_) running_.push_back(*chunk.usage->completion_tokens);
  keep_text(chunk);
}

void Timeline::keep_text(const Chunk& chunk) {
  if (!options_.keep_text) return;
  record_.content.append(chunk.content);
  record_.reasoning.append(chunk.reasoning);
  record_.tool_calls.append(chunk.tool_calls);
}

void Timeline::fail_with(std::string message) {
  if (!server_error_) server_error_ = std::move(message);
}

// An answer that was not streamed, or an error page.
void Timeline::whole_body() {
  ChunkReader& reader = shared_reader();
  const Chunk& chunk = reader.read(trim(body_));
  if (chunk.kind == Chunk::Kind::kError) return fail_with(std::string(chunk.error));
  if (chunk.kind != Chunk::Kind::kChunk || !chunk.has_choice) {
    stray_ = body_.substr(0, 120);
    return;
  }
  chunk_seen_ = true;
  record_.model.assign(chunk.model);
  record_.finish_reason.assign(chunk.finish_reason);
  finish_seen_ = true;
  usage_is_final_ = true;
  record_.usage = chunk.usage;
  record_.timings = chunk.timings;
  if (is_failure(chunk.finish_reason)) fail_with("finish_reason " + record_.finish_reason);
  keep_text(chunk);
}

// The server's own words come first, then how the transport ended, then what the answer lacks.
void Timeline::judge(const StreamEnd& end) {
  using Kind = StreamEnd::Kind;
  const bool announced = record_.done_seen || finish_seen_;
  // A connection that breaks behind a finish_reason has taken the usage along, unless that had come.
  const bool whole = record_.done_seen || (finish_seen_ && usage_is_final_);
  const auto fail = [&](Outcome outcome, const std::string& fallback, bool transport = false) {
    record_.outcome = outcome;
    record_.reason = transport && !end.message.empty() ? end.message : fallback;
  };
  if (server_error_) return fail(Outcome::kServerError, *server_error_);
  if (broken_) return fail(Outcome::kServerError, "an event is " + *broken_);
  if (parser_.overflowed()) return fail(Outcome::kServerError, "an event is longer than the parser's limit");
  if (end.kind == Kind::kConnectFailed) return fail(Outcome::kConnect, "no connection", true);
  if (end.kind == Kind::kCancelled && !record_.done_seen) return fail(Outcome::kCancelled, "cancelled", true);
  if (end.kind == Kind::kTimedOut && !record_.done_seen) return fail(Outcome::kTimeout, "timed out", true);
  const bool broke_off = end.kind == Kind::kCut || end.kind == Kind::kProtocol;
  if (broke_off && !whole) return fail(Outcome::kCut, "the connection ended inside the answer", true);
  if (!chunk_seen_ && stray_) return fail(Outcome::kNotStream, "not an event stream: " + printable(*stray_));
  if (record_.http_status == 0) return fail(Outcome::kCut, "the connection ended before a status came");
  if (!chunk_seen_) return fail(Outcome::kEmpty, "a success status with no event");
  if (!announced) return fail(Outcome::kCut, "the stream ended without [DONE] or a finish_reason");
  const auto& tokens = record_.completion_tokens;
  if (options_.exact_tokens && tokens && *tokens < *options_.exact_tokens) {
    fail(Outcome::kShort, fmt::format("{} tokens of the {} asked for", *tokens, *options_.exact_tokens));
  }
}

// Sets the count and its source. Gives the tokens of the events after the first, where each event's are known.
std::optional<std::int64_t> Timeline::count_tokens() {
  auto& events = record_.events;
  const std::int64_t count = static_cast<std::int64_t>(events.size());
  if (record_.usage && record_.usage->completion_tokens) {
    record_.completion_tokens = record_.usage->completion_tokens;
    const bool is_final = usage_is_final_ || record_.done_seen;
    record_.tokens_source = is_final ? TokensSource::kUsage : TokensSource::kContinuousUsage;
  } else if (ids_everywhere_ && count > 0) {
    record_.completion_tokens = ids_total_;
    record_.tokens_source = TokensSource::kTokenIds;
  }
  if (count == 0 || !record_.completion_tokens) return std::nullopt;
  const std::int64_t total = *record_.completion_tokens;
  // The end-of-sequence token is counted by usage and shown by no event.
  const std::int64_t unseen = record_.finish_reason == "stop" ? 1 : 0;
  if (ids_everywhere_ && ids_total_ <= total && ids_total_ + unseen >= total) return ids_total_ - events[0].tokens;
  if (running_everywhere_ && std::is_sorted(running_.begin(), running_.end()) && running_.back() <= total) {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      events[i].tokens = static_cast<std::int32_t>(running_[i] - (i == 0 ? 0 : running_[i - 1]));
    }
    return running_.back() - running_.front();
  }
  if (count != total) return std::nullopt;
  for (TokenEvent& event : events) event.tokens = 1;
  return total - 1;
}

RequestRecord Timeline::finish(const StreamEnd& end) {
  record_.end = std::max(arrival_, end.at - record_.sent);
  if (body_mode_ == Body::kSse) {
    // An answer that ends without its last blank line still says what it says; one cut inside an event is no broken
    // event but a cut stream.
    const bool broken_before = broken_.has_value();
    parser_.finish();
    drain();
    if (!broken_before) broken_.reset();
  }
  const bool refused = is_refusal(record_.http_status);
  if (body_mode_ == Body::kWhole && !refused) whole_body();
  const std::optional<std::int64_t> after_first = count_tokens();
  if (refused) {
    record_.outcome = Outcome::kHttpStatus;
    const std::string message = trim(body_).empty() ? "" : ": " + shared_reader().error_message(body_);
    record_.reason = fmt::format("HTTP {}{}", record_.http_status, message);
  } else {
    judge(end);
  }
  record_.burst = record_.events.size() > 1 && first_token_read_ == last_token_read_;
  compute_figures(record_, after_first);
  return std::move(record_);
}

}  // namespace bk::stream
