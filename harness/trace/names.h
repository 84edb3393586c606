#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

/// The names and streams that events bear, in the order in which they are met.
class Names {
 public:
  /// Indices into names() and streams().
  struct Place {
    std::uint32_t name = 0, stream = 0;
  };
  /// Where an event of one reader belongs.
  Place place_of(const Event& event);
  std::uint32_t index_of(Kind kind, std::string_view text, std::string_view category);
  std::uint32_t index_of(std::string_view device, std::string_view stream);
  void count(std::uint32_t name, std::int64_t dur_ns) {
    ++names_[name].count;
    names_[name].sum_ns += dur_ns;
  }

  [[nodiscard]] const std::vector<Name>& names() const { return names_; }
  [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Index = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;
  struct Known {
    std::uint32_t form = 0;
    Place place;
  };

  std::vector<Name> names_;
  std::vector<Stream> streams_;
  std::array<Index, 5> by_name_;  ///< by kind
  Index by_stream_;
  std::array<Known, 1024> known_{};  ///< by form, what was looked up last
  std::string key_;
  std::uint32_t last_stream_ = 0;
};

}  // namespace bk::trace
