#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/reader.h"

namespace bk::trace {

/// A name that events of one kind bear, and what they sum to.
struct Name {
  std::string text;
  std::string category;
  Kind kind = Kind::kOther;
  std::uint64_t count = 0;
  std::int64_t sum_ns = 0;
};

/// One queue of a device: what runs on it runs in order.
struct Stream {
  std::string device, id;
  [[nodiscard]] std::string label() const { return device + ":" + id; }
};

/// One event of a recording.
struct Slice {
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  std::uint32_t name = 0;    ///< index into names()
  std::uint32_t stream = 0;  ///< index into streams()
  [[nodiscard]] std::int64_t end_ns() const { return ts_ns + dur_ns; }
};

/// The kernels, copies and annotations of a trace, in about eight bytes each, in the order of the file.
class Recording {
 public:
  void append(const Event& event);

  [[nodiscard]] const std::vector<Name>& names() const { return names_; }
  [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Calls `visit` for every event, in the order of the file.
  template <class Visit>
  void for_each(Visit visit) const;
  /// Events whose name has one of the kinds, by start, then by end.
  [[nodiscard]] std::vector<Slice> sorted(std::initializer_list<Kind> kinds) const;

  /// Number and summed duration of the events of one kind.
  [[nodiscard]] std::uint64_t count_of(Kind kind) const;
  [[nodiscard]] std::int64_t sum_of(Kind kind) const;

  std::string source;  ///< the file
  ReadCounts counts;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Index = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;

  /// Where the events of a form go.
  struct Place {
    std::uint32_t form = 0, name = 0, stream = 0;
  };

  Place place_of(const Event& event);
  static std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  static std::uint64_t take(const unsigned char*& at);

  std::uint32_t name_index(const Event& event);
  std::uint32_t stream_index(const Event& event);
  void put(std::uint64_t value);

  std::vector<Name> names_;
  std::vector<Stream> streams_;
  Index by_name_[5];  ///< by kind
  Index by_stream_;
  std::array<Place, 1024> places_{};  ///< by form, what was looked up last
  std::string key_;
  std::uint32_t last_stream_ = 0;
  std::vector<std::unique_ptr<std::vector<unsigned char>>> blocks_;
  std::int64_t last_ts_ = 0;
  std::uint64_t size_ = 0;
};

inline std::uint64_t Recording::take(const unsigned char*& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned char byte = *at++;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

template <class Visit>
void Recording::for_each(Visit visit) const {
  Slice slice;
  for (const auto& block : blocks_) {
    const unsigned char* at = block->data();
    const unsigned char* const end = at + block->size();
    while (at != end) {
      slice.ts_ns += unzigzag(take(at));
      slice.dur_ns = static_cast<std::int64_t>(take(at));
      slice.name = static_cast<std::uint32_t>(take(at));
      slice.stream = static_cast<std::uint32_t>(take(at));
      visit(std::as_const(slice));
    }
  }
}

/// Reads a whole trace. Errors name `name` and the byte.
[[nodiscard]] Result<Recording> record(std::unique_ptr<ByteSource> source, const std::string& name,
                                       const ReadOptions& options = {});
/// Opens and reads the trace at `path` ("-" is standard input). kUnavailable, "no GPU kernels in this trace", when it
/// has none.
[[nodiscard]] Result<Recording> record_file(const std::string& path, const ReadOptions& options = {});
/// The same for several files at once, on as many threads as there are processors; results in the order of `paths`.
[[nodiscard]] std::vector<Result<Recording>> record_files(const std::vector<std::string>& paths,
                                                          const ReadOptions& options = {});

}  // namespace bk::trace
