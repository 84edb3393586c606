#include "trace/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "trace/decimal.h"

namespace bk::trace {
namespace {

bool contains_kernel(std::string_view category) {
  if (category == "kernel") return true;
  return category.size() >= 6 && to_lower(category).find("kernel") != std::string::npos;
}

Kind kind_of(std::string_view category) {
  switch (category.size()) {
    case 6:
      if (category == "cpu_op") return Kind::kOther;
      break;
    case 10:
      if (category == "gpu_memcpy" || category == "gpu_memset") return Kind::kMemop;
      break;
    case 15:
      if (category == "user_annotation") return Kind::kAnnotation;
      break;
    case 19:
      if (category == "gpu_user_annotation") return Kind::kGpuAnnotation;
      break;
    default:
      break;
  }
  return contains_kernel(category) ? Kind::kKernel : Kind::kOther;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
  return at;
}

/// Far enough from the ends of 64 bits for the end of an event, and the distance of any two. The largest is in 2096.
constexpr std::int64_t kLatestNs = 4'000'000'000'000'000'000;
/// Eleven days; what is longer is damage, and would soon overflow a sum.
constexpr std::int64_t kLongestNs = 1'000'000'000'000'000;

bool is_gpu_work(Kind kind) { return kind == Kind::kKernel || kind == Kind::kMemop; }

}  // namespace

Reader::Reader(std::unique_ptr<ByteSource> source, ReadOptions options, ReadFrom from)
    : window_(std::move(source), from.offset), options_(options) {
  begin(from);
}

void Reader::begin(ReadFrom from) {
  static const std::uint32_t kNoTokens[1] = {0};
  cursor_ = {};
  cursor_.at = cursor_.end = kNoTokens;
  state_ = from.at_event ? State::kElement : State::kStart;
  bare_array_ = from.at_event && from.bare_array;
  saw_events_ = from.at_event;
  isolated_ = in_run_ = false;
  counts_ = {};
}

void Reader::begin_part(Block& part, ReadFrom from) {
  window_.hold(part, from.offset);
  begin(from);
  part_ = true;
}

Error Reader::broken(const Walker& walker) const {
  Error error = broken(walker.fault_at());
  if (!walker.too_deep()) return error;
  return {Errc::kParse, fmt::format("a value is nested more than {} deep; --repair leaves such events out", kMaxDepth),
          error.where};
}

Error Reader::broken(std::size_t at) const {
  const std::string where = fmt::format("byte {}", window_.offset_of(at));
  if (at >= *cursor_.end) return {Errc::kParse, "the trace is cut: it ends inside a value", where};
  return {Errc::kParse, "no JSON: unexpected bytes; --repair leaves such events out", where};
}

Status Reader::need_more(std::size_t keep_from) {
  const bool was_final = cursor_.final;
  if (was_final) return at_end();
  auto cursor = window_.advance(keep_from, piece_);
  piece_ = std::min(2 * piece_, kMostPiece);
  const bool isolated = std::exchange(isolated_, false) && state_ < State::kElement;
  if (!cursor) {
    const bool may_repair = options_.repair && !isolated && cursor.error().where.starts_with("byte ");
    if (!may_repair) return fail(cursor.error());
    BK_ASSIGN(cursor_, window_.isolate(0));
    isolated_ = true;
    if (!cursor_.more()) return saw_events_ ? lose(0, cursor.error()) : Status(fail(cursor.error()));
    return {};
  }
  cursor_ = *cursor;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (state_ == State::kStart && window_.offset_of(0) == 0 && cursor_.more() && *cursor_.end >= 3 &&
      std::string_view(cursor_.bytes, 3) == kByteOrderMark) {
    // Whether the index counts the mark as one token, two or none differs between processors.
    while (cursor_.more() && *cursor_.at < 3) ++cursor_.at;
  }
  return {};
}

/// No token is left and none will come.
Status Reader::at_end() {
  counts_.bytes = window_.total();
  const bool may_end = bare_array_ && (state_ == State::kElement || state_ == State::kAfterElement);
  if (state_ == State::kDone) return {};
  if (may_end || (options_.repair && saw_events_)) {
    if (!may_end) {
      ++counts_.lost;
      if (counts_.first_loss.empty()) counts_.first_loss = fmt::format("the trace is cut (byte {})", counts_.bytes);
    }
    state_ = State::kDone;
    return {};
  }
  const std::string where = fmt::format("byte {}", window_.total());
  if (state_ == State::kStart) return fail(Errc::kParse, "the trace is empty", where);
  return fail(Errc::kParse, "the trace is cut: closing brackets are missing", where);
}

/// Repair: what begins at `from` is left out; reading goes on where a next event seems to start.
Status Reader::lose(std::size_t from, const Error& why) {
  ++counts_.lost;
  if (counts_.first_loss.empty()) counts_.first_loss = why.text();
  for (;;) {
    BK_ASSIGN(const bool found, window_.resync(from));
    state_ = State::kElement;
    if (!found) {
      counts_.bytes = window_.total();
      state_ = State::kDone;
      cursor_.at = cursor_.end;
      return {};
    }
    BK_ASSIGN(cursor_, window_.isolate(from));
    isolated_ = true;
    if (cursor_.at != nullptr && cursor_.more()) return {};
    ++counts_.lost;
    from = 0;
  }
}

Status Reader::take_start() {
  const char c = cursor_.peek();
  if (c != '{' && c != '[') return fail(broken(*cursor_.at));
  bare_array_ = c == '[';
  saw_events_ = bare_array_;
  state_ = bare_array_ ? State::kElement : State::kKey;
  ++cursor_.at;
  return {};
}

/// One member of the top object, up to the bracket that opens the events.
Status Reader::take_key() {
  const Cursor before = cursor_;
  if (cursor_.peek() == '}') {
    ++cursor_.at;
    state_ = State::kDone;
    return {};
  }
  Walker walker(cursor_);
  std::string_view key;
  Walk walk = walker.key(key);
  if (walk == Walk::kDone && cursor_.more() && cursor_.peek() != ':') return fail(broken(*cursor_.at));
  if (walk == Walk::kDone && cursor_.more()) ++cursor_.at;
  const bool opens_events = walk == Walk::kDone && cursor_.more() && key == "traceEvents" && cursor_.peek() == '[';
  if (opens_events) {
    // Which of the two a viewer takes differs, and their sum is in neither.
    if (saw_events_) return fail(Errc::kParse, "traceEvents stands twice in it", broken(*before.at).where);
    ++cursor_.at;
    saw_events_ = true;
    state_ = State::kElement;
    return {};
  }
  if (walk == Walk::kDone) walk = walker.skip();
  if (walk == Walk::kBroken) return fail(broken(walker));
  if (walk == Walk::kIncomplete) {
    cursor_ = before;
    return need_more(*cursor_.at);
  }
  state_ = State::kAfterMember;
  return {};
}

Status Reader::after_member() {
  const char c = cursor_.peek();
  if (c != ',' && c != '}') return fail(broken(*cursor_.at));
  state_ = c == ',' ? State::kKey : State::kDone;
  ++cursor_.at;
  return {};
}

Status Reader::after_element() {
  const char c = cursor_.peek();
  if (c != ',' && c != ']') {
    if (options_.repair) return lose(*cursor_.at, broken(*cursor_.at));
    return fail(broken(*cursor_.at));
  }
  ++cursor_.at;
  if (c == ',') {
    state_ = State::kElement;
  } else {
    state_ = bare_array_ ? State::kDone : State::kAfterMember;
  }
  return {};
}

Result<Reader::Took> Reader::take_element(Event& event) {
  const Cursor before = cursor_;
  const std::size_t start = *cursor_.at;
  if (cursor_.peek() == ']') {
    BK_TRY(after_element());
    return Took::kNothing;
  }
  if (!isolated_) {
    if (const Repeats::Form* form = repeats_.find(window_.ahead().substr(start)))
      return take_known(*form, start, event);
  }
  RawEvent raw;
  Walker walker(cursor_);
  const bool is_object = cursor_.peek() == '{';
  const Walk walk = is_object ? walker.event(raw) : Walk::kBroken;
  if (walk == Walk::kIncomplete && !isolated_) {
    cursor_ = before;
    BK_TRY(need_more(start));
    return Took::kNothing;
  }
  if (walk != Walk::kDone) {
    const Error why = is_object ? broken(walker) : broken(start);
    if (!options_.repair) return fail(why);
    BK_TRY(lose(start, why));
    return Took::kNothing;
  }
  state_ = State::kAfterElement;
  constexpr std::size_t kTokensOfEmpty = 2;
  if (cursor_.at - before.at == kTokensOfEmpty) {
    ++counts_.empty_objects;
    return Took::kNothing;
  }
  ++counts_.events;
  const std::size_t end = *(cursor_.at - 1) + 1;
  const Kind kind = kind_of(raw.cat);
  event.form = repeats_.learn(before, cursor_, raw, kind);
  return take_event(raw, kind, {cursor_.bytes + start, end - start}, event);
}

/// Past the event at `at`, which repeats_ has just found.
void Reader::pass_known(std::size_t at) {
  ++counts_.events;
  in_run_ = true;
  run_at_ = at + repeats_.size();
}

Result<Reader::Took> Reader::take_known(const Repeats::Form& form, std::size_t at, Event& event) {
  pass_known(at);
  if (!is_wanted(form.kind)) return Took::kNothing;
  event.form = form.serial;
  return take_event(repeats_.event_of(form), form.kind, window_.ahead().substr(at, repeats_.size()), event);
}

/// From the end of a known event to that of the next one that is asked for.
Result<Reader::Took> Reader::take_run(Event& event) {
  const std::string_view ahead = window_.ahead();
  for (;;) {
    std::size_t at = skip_blanks(ahead, run_at_);
    if (at == ahead.size() || ahead[at] != ',') {
      BK_TRY(leave_run(run_at_, State::kAfterElement));
      return Took::kNothing;
    }
    at = skip_blanks(ahead, at + 1);
    const Repeats::Form* form = repeats_.find(ahead.substr(at));
    if (form == nullptr) {
      BK_TRY(leave_run(at, State::kElement));
      return Took::kNothing;
    }
    if (is_wanted(form->kind)) return take_known(*form, at, event);
    pass_known(at);
  }
}

/// On to the tokens, from the byte `at` on.
Status Reader::leave_run(std::size_t at, State state) {
  in_run_ = false;
  piece_ = kLeastPiece;
  state_ = state;
  if (at >= *cursor_.end && !cursor_.final) return need_more(at);
  cursor_.at = std::lower_bound(cursor_.at, cursor_.end, at);
  return {};
}

Result<Reader::Took> Reader::take_event(const RawEvent& raw, Kind kind, std::string_view json, Event& event) {
  if (!is_wanted(kind)) return Took::kNothing;
  const bool complete = raw.ph == "X" && !raw.ts.empty() && !raw.dur.empty();
  if (!complete && !options_.all) {
    if (is_gpu_work(kind)) ++counts_.incomplete_gpu;
    return Took::kNothing;
  }
  const auto ts = nanos_of_micros(raw.ts), dur = nanos_of_micros(raw.dur);
  const bool is_time = ts && *ts >= -kLatestNs && *ts <= kLatestNs;
  const bool is_duration = dur && *dur >= 0 && *dur <= kLongestNs;
  if (complete && (!is_time || !is_duration)) {
    const auto at = static_cast<std::size_t>(json.data() - cursor_.bytes);
    const Error why{Errc::kParse,
                    is_duration ? "an event whose ts is no time in us; --repair leaves such events out"
                                : "an event whose dur is no duration in us; --repair leaves such events out",
                    fmt::format("byte {}", window_.offset_of(at))};
    if (!options_.repair) return fail(why);
    ++counts_.lost;
    if (counts_.first_loss.empty()) counts_.first_loss = why.text();
    return Took::kNothing;
  }
  event.kind = kind;
  event.category = raw.cat;
  event.ts_ns = is_time ? *ts : 0;
  event.dur_ns = is_duration ? *dur : 0;
  event.device = raw.device.empty() ? raw.pid : raw.device;
  event.stream = raw.stream.empty() ? raw.tid : raw.stream;
  event.json = json;
  event.name = raw.name;
  if (raw.name.find('\\') != std::string_view::npos) {
    // The text was checked; half a surrogate pair is all that can be wrong with it.
    const auto text = parse_json(fmt::format("\"{}\"", raw.name));
    if (text) {
      unescaped_ = text->as_string().value_or(std::string(raw.name));
      event.name = unescaped_;
    }
  }
  return Took::kEvent;
}

Result<Reader::Took> Reader::take(Event& event) {
  switch (state_) {
    case State::kStart:
      BK_TRY(take_start());
      break;
    case State::kKey:
      BK_TRY(take_key());
      break;
    case State::kAfterMember:
      BK_TRY(after_member());
      break;
    case State::kElement:
      return take_element(event);
    case State::kAfterElement:
      BK_TRY(after_element());
      break;
    case State::kDone:
      return fail(Errc::kParse, "bytes after the end of the trace",
                  fmt::format("byte {}", window_.offset_of(*cursor_.at)));
  }
  return Took::kNothing;
}

Result<bool> Reader::next(Event& event) {
  for (;;) {
    if (in_run_) {
      BK_ASSIGN(const Took took, take_run(event));
      if (took == Took::kEvent) return true;
      continue;
    }
    if (!cursor_.more()) {
      if (cursor_.final && part_ && state_ == State::kElement) return false;
      const bool ended = cursor_.final || (options_.repair && state_ == State::kDone);
      if (ended && state_ == State::kDone) {
        counts_.bytes = window_.total();
        if (!saw_events_) return fail(Errc::kParse, "no traceEvents in it; is it a Chrome or Kineto trace?");
        return false;
      }
      BK_TRY(need_more(*cursor_.end));
      continue;
    }
    BK_ASSIGN(const Took took, take(event));
    if (took == Took::kEvent) return true;
  }
}

}  // namespace bk::trace
