#pragma once
#include <cstdint>
#include <initializer_list>

namespace bk::physics {

/// Mixes words into one well-spread 64-bit value. The same words give the same value on every machine, so each draw of
/// the model is addressed by what it is for (seed, boot, request, step) and never by the order in which draws happen.
[[nodiscard]] std::uint64_t mix(std::initializer_list<std::uint64_t> words);

/// Uniform in [0, 1) from a mixed value.
[[nodiscard]] double uniform(std::uint64_t mixed);

/// Standard normal from a mixed value (Box-Muller over two uniforms derived from it).
[[nodiscard]] double normal(std::uint64_t mixed);

}  // namespace bk::physics
