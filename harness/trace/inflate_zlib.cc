#ifndef BK_ISAL
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "trace/inflate.h"

namespace bk::trace {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;

uInt clamp32(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

class ZlibInflater final : public Inflater {
 public:
  ZlibInflater() { BK_CHECK(inflateInit2(&state_, kGzipOnly) == Z_OK); }
  ~ZlibInflater() override { inflateEnd(&state_); }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  Inflated step(const char* in, std::size_t in_size, char* out, std::size_t out_size) override {
    // The interface of zlib takes bytes that it only reads as not const.
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in));
    state_.avail_in = clamp32(in_size);
    state_.next_out = reinterpret_cast<Bytef*>(out);
    state_.avail_out = clamp32(out_size);
    const uInt had_in = state_.avail_in, had_out = state_.avail_out;
    const int code = inflate(&state_, Z_NO_FLUSH);
    if (code == Z_DATA_ERROR && state_.msg != nullptr &&
        std::string_view(state_.msg).find("check") != std::string::npos) {
      return {had_in - state_.avail_in, 0, false, "the checksum of a gzip member is wrong"};
    }
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return {had_in - state_.avail_in, 0, false, "damaged gzip data"};
    }
    return {had_in - state_.avail_in, had_out - state_.avail_out, code == Z_STREAM_END};
  }

  void next_member() override { BK_CHECK(inflateReset(&state_) == Z_OK); }

 private:
  z_stream state_{};
};

}  // namespace

std::unique_ptr<Inflater> make_inflater() { return std::make_unique<ZlibInflater>(); }

}  // namespace bk::trace
#endif
