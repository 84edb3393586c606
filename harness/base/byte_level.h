#pragma once
#include <string>
#include <string_view>

namespace bk {

/// The spelling of bytes in byte-level vocabularies: printable Latin-1 stands for itself, the rest from U+0100 on.
[[nodiscard]] std::string byte_level(std::string_view bytes);

}  // namespace bk
