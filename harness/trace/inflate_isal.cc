#ifdef BK_ISAL
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "trace/inflate.h"

namespace bk::trace {
namespace {

std::uint32_t clamp32(std::size_t size) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(size, std::numeric_limits<std::int32_t>::max()));
}

class IsalInflater final : public Inflater {
 public:
  IsalInflater() { next_member(); }

  Inflated step(const char* in, std::size_t in_size, char* out, std::size_t out_size) override {
    fetch_state();
    // The interface of ISA-L takes bytes that it only reads as not const.
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in));
    state_.avail_in = clamp32(in_size);
    state_.next_out = reinterpret_cast<std::uint8_t*>(out);
    state_.avail_out = clamp32(out_size);
    const std::uint32_t had_in = state_.avail_in, had_out = state_.avail_out;
    const int code = isal_inflate(&state_);
    if (code == ISAL_INCORRECT_CHECKSUM) {
      return {had_in - state_.avail_in, 0, false, "the checksum of a gzip member is wrong"};
    }
    if (code < 0) return {had_in - state_.avail_in, 0, false, "damaged gzip data"};
    return {had_in - state_.avail_in, had_out - state_.avail_out, state_.block_state == ISAL_BLOCK_FINISH};
  }

  void next_member() override {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

 private:
  /// The thread before this one may have run on another processor: all at once its tables come sooner than one by one.
  void fetch_state() const {
    constexpr std::size_t kCacheLine = 64;
    const char* const bytes = reinterpret_cast<const char*>(&state_);
    for (std::size_t at = 0; at < sizeof state_; at += kCacheLine) __builtin_prefetch(bytes + at, 1);
  }

  inflate_state state_;
};

}  // namespace

std::unique_ptr<Inflater> make_inflater() { return std::make_unique<IsalInflater>(); }

}  // namespace bk::trace
#endif
