#include "slice.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "lanes.h"
#include "trace/source.h"

namespace bk::census {
namespace {

struct SliceEvent {
  std::string json;
  std::string ph, pid, tid;  ///< pid and tid as JSON
  std::string arrow;         ///< what the two ends of an arrow share; empty for everything else
  Span span;
};

using Track = std::pair<std::string, std::string>;

std::string tid_of_lane(const Json& tid, std::size_t lane) {
  return fmt::format("{}, lane {}", tid.as_string().value_or(tid.dump()), lane + 1);
}

bool is_metadata(std::string_view json) {
  return json.find("\"ph\": \"M\"") != std::string_view::npos || json.find("\"ph\":\"M\"") != std::string_view::npos;
}

/// A span about the whole step, such as the profiler's own over the whole capture: a viewer that opens on it shows the
/// step as a hair.
bool encloses(const Span& span, const trace::Step& step) {
  return span.begin_ns < step.begin_ns && span.end_ns > step.end_ns;
}

Json parsed(std::string_view json) { return parse_json(json).value_or(Json()); }

SliceEvent slice_event(std::string_view text, const Span& span) {
  const Json json = parsed(text);
  SliceEvent event{
      std::string(text), json["ph"].as_string().value_or(""), json["pid"].dump(), json["tid"].dump(), {}, span};
  if (event.ph == "s" || event.ph == "f") event.arrow = json["cat"].dump() + json["id"].dump();
  return event;
}

/// Leaves out arrows of which one end is not in the slice: viewers count those as damage.
void keep_whole_arrows(std::vector<SliceEvent>& events) {
  std::set<std::string> from, to;
  for (const SliceEvent& event : events) {
    if (!event.arrow.empty()) (event.ph == "s" ? from : to).insert(event.arrow);
  }
  std::erase_if(events, [&](const SliceEvent& event) {
    return !event.arrow.empty() && !(from.contains(event.arrow) && to.contains(event.arrow));
  });
}

/// Viewers leave out an event that begins within another one of its track and outlasts it, as a kernel does that is
/// launched before the one before it has ended. Such events, and the arrows to them, get a track of their own.
void give_lanes(std::vector<SliceEvent>& events) {
  std::map<Track, std::vector<std::size_t>> tracks;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].ph == "X") tracks[{events[i].pid, events[i].tid}].push_back(i);
  }
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::size_t> moved;
  std::set<std::tuple<std::string, std::string, std::size_t>> added;
  for (const auto& [track, members] : tracks) {
    std::vector<Span> spans;
    for (const std::size_t i : members) spans.push_back(events[i].span);
    const std::vector<std::size_t> lanes = nested_lanes(spans);
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (lanes[m] == 0) continue;
      moved[{track.first, track.second, spans[m].begin_ns}] = lanes[m];
      added.insert({track.first, track.second, lanes[m]});
    }
  }
  for (SliceEvent& event : events) {
    if (event.ph == "M") continue;
    const auto found = moved.find({event.pid, event.tid, event.span.begin_ns});
    if (found == moved.end()) continue;
    Json json = parsed(event.json);
    json.set("tid", tid_of_lane(json["tid"], found->second));
    event.json = json.dump();
  }
  for (const auto& [pid, tid, lane] : added) {
    const std::string name = tid_of_lane(parsed(tid), lane);
    Json json, args;
    args.set("name", name);
    json.set("ph", "M").set("name", "thread_name").set("pid", parsed(pid)).set("tid", name).set("args", args);
    events.push_back({json.dump(), "M", pid, tid, {}, {}});
  }
}

}  // namespace

Result<std::string> slice_text(const std::string& path, trace::ReadOptions options, const trace::Step& step) {
  options.all = true;
  BK_ASSIGN(auto source, trace::open_source(path));
  trace::Reader reader(std::move(source), options);
  std::vector<SliceEvent> events;
  for (trace::Event event;;) {
    auto more = reader.next(event);
    if (!more) return fail(more.error().code, more.error().what, path + ", " + more.error().where);
    if (!*more) break;
    const Span span{event.ts_ns, event.ts_ns + event.dur_ns};
    const bool inside = span.begin_ns < step.end_ns && span.end_ns >= step.begin_ns;
    if ((!inside || encloses(span, step)) && !is_metadata(event.json)) continue;
    events.push_back(slice_event(event.json, span));
  }
  keep_whole_arrows(events);
  give_lanes(events);
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ",\n") + events[i].json;
  return text + "\n]}\n";
}

}  // namespace bk::census
