#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/names.h"
#include "trace/packed_slices.h"
#include "trace/reader.h"

namespace bk::trace {

/// Events of one part of a trace after another, each to be appended to the same recording. Names stay.
class RecordingPart {
 public:
  void append(const Event& event) {
    const Names::Place place = names_.place_of(event);
    slices_.push_back({event.ts_ns, event.dur_ns, place.name, place.stream});
  }
  void clear() { slices_.clear(); }

 private:
  friend class Recording;
  Names names_;
  std::vector<Slice> slices_;
  std::vector<std::uint32_t> recorded_names_, recorded_streams_;  ///< where they are in the recording
};

/// The kernels, copies and annotations of a trace, in about eight bytes each, in the order of the file.
class Recording {
 public:
  void append(const Event& event);
  /// Appends the events of a part, whose names are met as if its events were.
  void append(RecordingPart& part);

  [[nodiscard]] const std::vector<Name>& names() const { return names_.names(); }
  [[nodiscard]] const std::vector<Stream>& streams() const { return names_.streams(); }
  [[nodiscard]] std::uint64_t size() const { return work_.size() + ranges_.size(); }
  /// Calls `visit` for every kernel and copy, in the order of the file.
  template <class Visit>
  void for_each_work(Visit visit) const {
    work_.for_each(visit);
  }
  /// Calls `visit` for every annotation, in the order of the file.
  template <class Visit>
  void for_each_range(Visit visit) const {
    ranges_.for_each(visit);
  }
  /// Events whose name has one of the kinds, by start, then by end.
  [[nodiscard]] std::vector<Slice> sorted(std::initializer_list<Kind> kinds) const;

  /// Number and summed duration of the events of one kind.
  [[nodiscard]] std::uint64_t count_of(Kind kind) const;
  [[nodiscard]] std::int64_t sum_of(Kind kind) const;

  std::string source;  ///< the file
  ReadCounts counts;

 private:
  void append(const Slice& slice);

  Names names_;
  PackedSlices work_, ranges_;
};

/// Reads a whole trace, on up to `threads` threads where the source never waits. What comes out, errors too, does not
/// depend on their number. Errors name `name` and the byte.
[[nodiscard]] Result<Recording> record(std::unique_ptr<ByteSource> source, const std::string& name,
                                       const ReadOptions& options = {}, unsigned threads = 1);
/// Opens and reads the trace at `path` ("-" is standard input), on as many threads as there are processors, four at
/// most. kUnavailable, "no GPU kernels in this trace", when it has none.
[[nodiscard]] Result<Recording> record_file(const std::string& path, const ReadOptions& options = {});
/// The same for several files at once, on as many threads as there are processors; results in the order of `paths`.
[[nodiscard]] std::vector<Result<Recording>> record_files(const std::vector<std::string>& paths,
                                                          const ReadOptions& options = {});

}  // namespace bk::trace
