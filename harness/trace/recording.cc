#include "trace/recording.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace bk::trace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxVarint = 10;
constexpr std::size_t kVarintsOfEvent = 4;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
}  // namespace

void Recording::put(std::uint64_t value) {
  auto& block = *blocks_.back();
  for (; value >= 0x80; value >>= 7) block.push_back(static_cast<unsigned char>(value | 0x80));
  block.push_back(static_cast<unsigned char>(value));
}

std::uint32_t Recording::name_index(const Event& event) {
  Index& index = by_name_[static_cast<std::size_t>(event.kind)];
  const auto found = index.find(event.name);
  if (found != index.end()) return found->second;
  const auto at = static_cast<std::uint32_t>(names_.size());
  names_.push_back({std::string(event.name), std::string(event.category), event.kind, 0, 0});
  index.emplace(event.name, at);
  return at;
}

std::uint32_t Recording::stream_index(const Event& event) {
  // Neighbours in a trace mostly share their stream.
  if (last_stream_ < streams_.size() && streams_[last_stream_].device == event.device &&
      streams_[last_stream_].id == event.stream) {
    return last_stream_;
  }
  key_.assign(event.device).append(":").append(event.stream);
  const auto found = by_stream_.find(std::string_view(key_));
  if (found != by_stream_.end()) return last_stream_ = found->second;
  const auto at = static_cast<std::uint32_t>(streams_.size());
  last_stream_ = at;
  streams_.push_back({std::string(event.device), std::string(event.stream)});
  by_stream_.emplace(key_, at);
  return at;
}

Recording::Place Recording::place_of(const Event& event) {
  if (event.form == 0) return {0, name_index(event), stream_index(event)};
  Place& known = places_[event.form % places_.size()];
  if (known.form != event.form) known = {event.form, name_index(event), stream_index(event)};
  return known;
}

void Recording::append(const Event& event) {
  const Place place = place_of(event);
  Name& name = names_[place.name];
  ++name.count;
  name.sum_ns += event.dur_ns;
  if (blocks_.empty() || blocks_.back()->size() + kMaxVarint * kVarintsOfEvent > kBlockBytes) {
    blocks_.push_back(std::make_unique<std::vector<unsigned char>>());
    blocks_.back()->reserve(kBlockBytes);
  }
  put(zigzag(event.ts_ns - last_ts_));
  put(static_cast<std::uint64_t>(event.dur_ns));
  put(place.name);
  put(place.stream);
  last_ts_ = event.ts_ns;
  ++size_;
}

std::vector<Slice> Recording::sorted(std::initializer_list<Kind> kinds) const {
  std::vector<Slice> slices;
  for_each([&](const Slice& slice) {
    if (std::find(kinds.begin(), kinds.end(), names_[slice.name].kind) != kinds.end()) slices.push_back(slice);
  });
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.dur_ns < b.dur_ns;
  });
  return slices;
}

std::uint64_t Recording::count_of(Kind kind) const {
  std::uint64_t count = 0;
  for (const Name& name : names_) count += name.kind == kind ? name.count : 0;
  return count;
}

std::int64_t Recording::sum_of(Kind kind) const {
  std::int64_t sum = 0;
  for (const Name& name : names_) sum += name.kind == kind ? name.sum_ns : 0;
  return sum;
}

Result<Recording> record(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options) {
  Reader reader(std::move(source), options);
  Recording recording;
  recording.source = name;
  for (Event event;;) {
    auto more = reader.next(event);
    if (!more) {
      const Error& error = more.error();
      return fail(error.code, error.what, error.where.empty() ? name : name + ", " + error.where);
    }
    if (!*more) break;
    recording.append(event);
  }
  recording.counts = reader.counts();
  return recording;
}

Result<Recording> record_file(const std::string& path, const ReadOptions& options) {
  BK_ASSIGN(auto source, open_source(path));
  BK_ASSIGN(Recording recording, record(std::move(source), path, options));
  if (recording.count_of(Kind::kKernel) == 0) return fail(Errc::kUnavailable, "no GPU kernels in this trace", path);
  return recording;
}

std::vector<Result<Recording>> record_files(const std::vector<std::string>& paths, const ReadOptions& options) {
  std::vector<std::optional<Result<Recording>>> slots(paths.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) slots[i].emplace(record_file(paths[i], options));
  };
  const std::size_t threads = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), paths.size());
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  std::vector<Result<Recording>> results;
  results.reserve(slots.size());
  for (auto& slot : slots) results.push_back(std::move(*slot));
  return results;
}

}  // namespace bk::trace
