#include "trace/recording.h"

#include <algorithm>

namespace bk::trace {
void Recording::append(const Slice& slice) {
  names_.count(slice.name, slice.dur_ns);
  const Kind kind = names()[slice.name].kind;
  (kind == Kind::kKernel || kind == Kind::kMemop ? work_ : ranges_).append(slice);
}

void Recording::append(const Event& event) {
  const Names::Place place = names_.place_of(event);
  append(Slice{event.ts_ns, event.dur_ns, place.name, place.stream});
}

void Recording::append(RecordingPart& part) {
  const auto& names = part.names_.names();
  for (std::size_t i = part.recorded_names_.size(); i < names.size(); ++i) {
    part.recorded_names_.push_back(names_.index_of(names[i].kind, names[i].text, names[i].category));
  }
  const auto& streams = part.names_.streams();
  for (std::size_t i = part.recorded_streams_.size(); i < streams.size(); ++i) {
    part.recorded_streams_.push_back(names_.index_of(streams[i].device, streams[i].id));
  }
  for (const Slice& slice : part.slices_) {
    append(Slice{slice.ts_ns, slice.dur_ns, part.recorded_names_[slice.name], part.recorded_streams_[slice.stream]});
  }
}

std::vector<Slice> Recording::sorted(std::initializer_list<Kind> kinds) const {
  std::vector<Slice> slices;
  const auto keep = [&](const Slice& slice) {
    if (std::find(kinds.begin(), kinds.end(), names()[slice.name].kind) != kinds.end()) slices.push_back(slice);
  };
  for_each_work(keep);
  for_each_range(keep);
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.dur_ns < b.dur_ns;
  });
  return slices;
}

std::uint64_t Recording::count_of(Kind kind) const {
  std::uint64_t count = 0;
  for (const Name& name : names()) count += name.kind == kind ? name.count : 0;
  return count;
}

std::int64_t Recording::sum_of(Kind kind) const {
  std::int64_t sum = 0;
  for (const Name& name : names()) sum += name.kind == kind ? name.sum_ns : 0;
  return sum;
}

}  // namespace bk::trace
