#include "store/event_codec.h"

#include <zlib.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace bk::store {
namespace {

constexpr char kFormat = 1;
constexpr std::uint64_t kMostBytes = 1ULL << 30;  // a damaged length must not ask for all memory

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::optional<std::uint64_t> take_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// Appends the zlib stream of `plain`. Arrival times differ from microsecond to microsecond, so that no stretch of them
/// comes again: what is gained lies in how often each byte occurs, and zlib's usual memory would take longer to get.
bool compress_onto(std::string& out, const std::string& plain) {
  constexpr int kWindowBits = 12, kMemory = 6;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBits, kMemory, Z_HUFFMAN_ONLY) != Z_OK) return false;
  const std::size_t before = out.size();
  out.resize(before + deflateBound(&stream, plain.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
  stream.avail_out = static_cast<uInt>(out.size() - before);
  const int code = deflate(&stream, Z_FINISH);
  out.resize(before + stream.total_out);
  deflateEnd(&stream);
  return code == Z_STREAM_END;
}

tl::unexpected<Error> damaged() { return fail(Errc::kParse, "a request's events are damaged"); }

}  // namespace

Result<std::string> encode_events(const std::vector<EventRow>& events) {
  std::string plain;
  plain.reserve(events.size() * 6);
  Nanos before = 0;
  for (const EventRow& event : events) {
    put_varint(plain, zigzag(event.at - before));
    put_varint(plain, zigzag(std::int64_t{event.tokens} + 1));
    before = event.at;
  }
  std::string blob(1, kFormat);
  put_varint(blob, plain.size());
  if (!compress_onto(blob, plain)) return fail(Errc::kInternal, "zlib could not compress a request's events");
  return blob;
}

Result<std::vector<EventRow>> decode_events(std::string_view blob) {
  if (blob.empty() || blob.front() != kFormat) return damaged();
  blob.remove_prefix(1);
  const auto length = take_varint(blob);
  if (!length || *length > kMostBytes) return damaged();
  std::string plain(*length, '\0');
  uLongf size = plain.size();
  const int code = uncompress(reinterpret_cast<Bytef*>(plain.data()), &size,
                              reinterpret_cast<const Bytef*>(blob.data()), blob.size());
  if (code != Z_OK || size != plain.size()) return damaged();
  std::vector<EventRow> events;
  std::string_view rest = plain;
  Nanos at = 0;
  while (!rest.empty()) {
    const auto step = take_varint(rest);
    const auto tokens = take_varint(rest);
    if (!step || !tokens) return damaged();
    at += unzigzag(*step);
    const std::int64_t count = unzigzag(*tokens) - 1;
    if (count < std::numeric_limits<std::int32_t>::min() || count > std::numeric_limits<std::int32_t>::max()) {
      return damaged();
    }
    events.push_back({at, static_cast<std::int32_t>(count)});
  }
  return events;
}

}  // namespace bk::store
