#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace bk::supervisor {

/// How many logs, and how many folders of forensics, are kept.
inline constexpr int kKept = 10;

/// "20261130T004130.123456Z" of now: sorts by time, names a file.
[[nodiscard]] std::string stamp();

/// Makes the folder and removes its oldest entries by name, so that one more makes kKept; the ranks' logs of one boot
/// (LOG, LOG.rank1 …) are one entry. kIo.
[[nodiscard]] Status make_room(const std::filesystem::path& dir);

/// The last `count` lines of a text.
[[nodiscard]] std::string last_lines(const std::string& text, std::size_t count);

}  // namespace bk::supervisor
