#include "stream/figures.h"

namespace bk::stream {
namespace {

bool is_too_fast(double tokens, Nanos window) { return tokens >= kFastestStream_tok_s * to_s(window); }

// Why there is no decode window, or nullptr. A burst's window is that of one read: it says nothing about the server.
const char* no_window(const RequestRecord& record) {
  if (record.events.empty()) return record.data_events == 0 ? "not_streamed" : "no_tokens";
  if (record.events.size() == 1) return "one_event";
  if (record.burst) return "burst";
  const Nanos window = record.events.back().at - record.events.front().at;
  if (window <= 0) return "zero_window";
  // Every event bears a token at least, so this says it too where nobody counts them.
  return is_too_fast(static_cast<double>(record.events.size() - 1), window) ? kTooFast : nullptr;
}

void decode(RequestRecord& record, std::optional<std::int64_t> after_first) {
  if (const char* reason = no_window(record)) {
    record.decode_tok_s = record.decode_tok_s_n_minus_1 = Figure::none(reason);
    return;
  }
  const Nanos window = record.events.back().at - record.events.front().at;
  const auto& tokens = record.completion_tokens;
  if (!tokens) {
    record.decode_tok_s_n_minus_1 = Figure::none("no_usage");
  } else if (*tokens < 2) {
    record.decode_tok_s_n_minus_1 = Figure::none("one_token");
  } else {
    record.decode_tok_s_n_minus_1 = stream_rate(static_cast<double>(*tokens - 1), window);
  }
  if (!after_first) {
    record.decode_tok_s = record.decode_tok_s_n_minus_1;
    if (record.decode_tok_s.value) record.decode_basis = DecodeBasis::kNMinusOne;
  } else if (*after_first > 0) {
    record.decode_tok_s = stream_rate(static_cast<double>(*after_first), window);
    if (record.decode_tok_s.value) record.decode_basis = DecodeBasis::kExact;
  } else {
    record.decode_tok_s = Figure::none("no_tokens_after_first");
  }
}

Figure prefill(const RequestRecord& record) {
  if (!record.ttft) return Figure::none(record.data_events == 0 ? "not_streamed" : "no_tokens");
  if (!record.usage || !record.usage->prompt_tokens) return Figure::none("no_usage");
  const std::int64_t fresh = *record.usage->prompt_tokens - record.usage->cached_tokens.value_or(0);
  if (fresh <= 0) return Figure::none("all_cached");
  return *record.ttft > 0 ? Figure::of(static_cast<double>(fresh) / to_s(*record.ttft)) : Figure::none("zero_window");
}

Figure end_to_end(const RequestRecord& record) {
  if (!record.completion_tokens) return Figure::none("no_usage");
  if (*record.completion_tokens == 0) return Figure::none("no_tokens");
  return stream_rate(static_cast<double>(*record.completion_tokens), record.end.value_or(0));
}

}  // namespace

Figure stream_rate(double tokens, Nanos window) {
  if (window <= 0) return Figure::none("zero_window");
  return is_too_fast(tokens, window) ? Figure::none(kTooFast) : Figure::of(tokens / to_s(window));
}

void compute_figures(RequestRecord& record, std::optional<std::int64_t> after_first) {
  record.decode_basis = DecodeBasis::kNone;
  if (!record.ok()) {
    record.decode_tok_s = record.decode_tok_s_n_minus_1 = record.tpot_ms = record.prefill_tok_s = record.e2e_tok_s =
        Figure::none("request_failed");
    return;
  }
  decode(record, after_first);
  record.tpot_ms = record.decode_tok_s.value ? Figure::of(1e3 / *record.decode_tok_s.value)
                                             : Figure::none(record.decode_tok_s.reason);
  record.prefill_tok_s = prefill(record);
  record.e2e_tok_s = end_to_end(record);
}

}  // namespace bk::stream
