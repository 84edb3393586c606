#include "stream/figures.h"

namespace bk::stream {
namespace {

Figure per_second(std::int64_t tokens, Nanos window) { return Figure::of(static_cast<double>(tokens) / to_s(window)); }

// Why there is no decode window, or nullptr. A burst's window is that of one read: it says nothing about the server.
const char* no_window(const RequestRecord& record) {
  if (record.events.empty()) return record.data_events == 0 ? "not_streamed" : "no_tokens";
  if (record.events.size() == 1) return "one_event";
  if (record.burst) return "burst";
  return record.events.back().at > record.events.front().at ? nullptr : "zero_window";
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
    record.decode_tok_s_n_minus_1 = per_second(*tokens - 1, window);
  }
  if (!after_first) {
    record.decode_tok_s = record.decode_tok_s_n_minus_1;
    if (record.decode_tok_s.value) record.decode_basis = DecodeBasis::kNMinusOne;
  } else if (*after_first > 0) {
    record.decode_tok_s = per_second(*after_first, window);
    record.decode_basis = DecodeBasis::kExact;
  } else {
    record.decode_tok_s = Figure::none("no_tokens_after_first");
  }
}

Figure prefill(const RequestRecord& record) {
  if (!record.ttft) return Figure::none(record.data_events == 0 ? "not_streamed" : "no_tokens");
  if (!record.usage || !record.usage->prompt_tokens) return Figure::none("no_usage");
  const std::int64_t fresh = *record.usage->prompt_tokens - record.usage->cached_tokens.value_or(0);
  if (fresh <= 0) return Figure::none("all_cached");
  return *record.ttft > 0 ? per_second(fresh, *record.ttft) : Figure::none("zero_window");
}

Figure end_to_end(const RequestRecord& record) {
  if (!record.completion_tokens) return Figure::none("no_usage");
  if (*record.completion_tokens == 0) return Figure::none("no_tokens");
  return record.end && *record.end > 0 ? per_second(*record.completion_tokens, *record.end)
                                       : Figure::none("zero_window");
}

}  // namespace

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
