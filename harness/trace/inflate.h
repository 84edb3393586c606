#pragma once
#include <cstddef>
#include <memory>

namespace bk::trace {

/// What one call of Inflater::step() did.
struct Inflated {
  std::size_t consumed = 0;
  std::size_t produced = 0;
  bool member_ended = false;     ///< its checksum and length were right
  const char* damage = nullptr;  ///< what is wrong with the bytes after `consumed`; nothing was produced then
};

/// One gzip member after another. ISA-L where it was found at build time, else zlib.
class Inflater {
 public:
  virtual ~Inflater() = default;
  /// Consumes from `in`, produces into `out`; tells when the bytes are no gzip member or the checksum is wrong.
  virtual Inflated step(const char* in, std::size_t in_size, char* out, std::size_t out_size) = 0;
  /// Ready for the header of the next member.
  virtual void next_member() = 0;
};

[[nodiscard]] std::unique_ptr<Inflater> make_inflater();

}  // namespace bk::trace
