#include "kept.h"

#include <fmt/format.h>

#include <map>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace bk::supervisor {

namespace fs = std::filesystem;

std::string stamp() {
  const Nanos now = wall_now();
  std::string text = format_utc(now);
  text.pop_back();
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("{}.{:06}Z", text, now % kSecond / kMicrosecond);
}

Status make_room(const fs::path& dir) {
  BK_TRY(make_directories(dir));
  std::map<std::string, std::vector<fs::path>> entries;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    entries[name.substr(0, name.find(".rank"))].push_back(it->path());
  }
  for (; entries.size() >= kKept; entries.erase(entries.begin())) {
    for (const fs::path& path : entries.begin()->second) fs::remove_all(path, error);
  }
  if (error) return fail(Errc::kIo, error.message(), dir.string());
  return {};
}

std::string last_lines(const std::string& text, std::size_t count) {
  const auto lines = split_lines(text);
  std::string tail;
  for (std::size_t i = lines.size() > count ? lines.size() - count : 0; i < lines.size(); ++i) {
    tail += lines[i];
    tail += '\n';
  }
  return tail;
}

}  // namespace bk::supervisor
