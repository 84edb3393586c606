#pragma once
#include <cstddef>
#include <string>

namespace bk::gate {

/// True when the value at [begin, end) of folded text is denied inside its own clause: a negation among the six words
/// before it ("not 8127", "I do not think it is 8127"), or right after it ("8127 is wrong", "8127이 아니다").
[[nodiscard]] bool is_denied(const std::u32string& folded, std::size_t begin, std::size_t end);

}  // namespace bk::gate
