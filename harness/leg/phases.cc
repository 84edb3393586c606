#include "leg/phases.h"

#include <algorithm>

#include "load/aggregate.h"
#include "stream/figures.h"

namespace bk::leg {
namespace {

using stream::Figure;
using stream::RequestRecord;
using stream::TokenEvent;

constexpr std::size_t kLongest = 8;

Phase cut(const char* name, Nanos begin, Nanos end, const std::vector<TokenEvent>& events) {
  Phase phase;
  phase.name = name;
  phase.begin = begin;
  phase.end = end;
  double tokens = 0;
  bool counted = true;
  for (std::size_t i = 1; i < events.size(); ++i) {  // the first event opens the clock, as it does for a decode rate
    const TokenEvent& event = events[i];
    const bool with_first = event.at == events.front().at && begin == events.front().at;
    if ((event.at <= begin && !with_first) || event.at > end) continue;
    ++phase.events;
    tokens += event.tokens;
    counted = counted && event.tokens >= 0;
  }
  phase.tokens = counted ? Figure::of(tokens) : Figure::none("tokens_per_event_unknown");
  phase.events_s = stream::stream_rate(static_cast<double>(phase.events), end - begin);
  phase.tok_s = !phase.events_s.value ? phase.events_s
                : counted             ? stream::stream_rate(tokens, end - begin)
                                      : Figure::none("tokens_per_event_unknown");
  return phase;
}

std::string phase_of(const Disturbance& d, Nanos begin, Nanos end) {
  if (end <= d.ingest_begin) return "before";
  return begin >= d.ingest_end ? "after" : "during";
}

void take_gaps(const std::vector<TokenEvent>& events, Disturbance* d) {
  for (std::size_t i = 1; i < events.size(); ++i) {
    d->longest.push_back(
        {events[i - 1].at, events[i].at - events[i - 1].at, phase_of(*d, events[i - 1].at, events[i].at)});
  }
  for (Phase& phase : d->phases) {
    std::vector<double> gaps;
    for (const Gap& gap : d->longest) {
      if (gap.phase == phase.name) gaps.push_back(to_ms(gap.length));
    }
    const auto longest = std::max_element(gaps.begin(), gaps.end());
    phase.gap_max_ms = longest == gaps.end() ? Figure::none("no_gap") : Figure::of(*longest);
    const auto middle = load::median(gaps);
    phase.gap_ms = middle ? Figure::of(*middle) : Figure::none("no_gap");
  }
  std::stable_sort(d->longest.begin(), d->longest.end(),
                   [](const Gap& a, const Gap& b) { return a.length > b.length; });
  if (d->longest.size() > kLongest) d->longest.resize(kLongest);
}

}  // namespace

Result<Disturbance> disturbance_of(const RequestRecord& stream, const RequestRecord& ingest) {
  for (const RequestRecord* record : {&stream, &ingest}) {
    if (record->ok()) continue;
    const char* which = record == &stream ? "the stream" : "the ingest";
    return fail(Errc::kServer, fmt::format("{} failed: {}", which,
                                           record->reason.empty() ? to_string(record->outcome) : record->reason));
  }
  Disturbance d;
  d.ingest_begin = ingest.sent - stream.sent;
  d.ingest_end = d.ingest_begin + ingest.end.value_or(0);
  const auto& events = stream.events;
  if (events.empty() || d.ingest_begin <= events.front().at) {
    return fail(Errc::kInconclusive, "the ingest began before the stream's first token: start it later");
  }
  if (d.ingest_begin >= events.back().at) {
    return fail(Errc::kInconclusive,
                "the stream had ended before the ingest began: ask for more tokens, or start it "
                "sooner");
  }
  const Nanos last = events.back().at;
  d.phases = {cut("before", events.front().at, d.ingest_begin, events),
              cut("during", d.ingest_begin, std::min(d.ingest_end, last), events),
              cut("after", std::min(d.ingest_end, last), last, events)};
  take_gaps(events, &d);
  return d;
}

}  // namespace bk::leg
