#include "forensics.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "boot/fingerprint.h"
#include "kept.h"

namespace bk::supervisor {
namespace {

constexpr std::size_t kLogLines = 400;
constexpr std::size_t kLogBytes = 4U << 20U;

std::string text_or_reason(const Result<std::string>& text) {
  return text ? *text : "not read: " + text.error().text() + "\n";
}

std::string process_text(const std::optional<pid_t>& pid) {
  if (!pid) return "not launched here\n";
  std::string text;
  for (const char* file : {"status", "wchan", "stack", "cmdline", "limits"}) {
    text += fmt::format("== {}\n{}\n", file, text_or_reason(read_file(fmt::format("/proc/{}/{}", *pid, file))));
  }
  return text;
}

}  // namespace

Result<std::filesystem::path> collect_forensics(const Lane& lane, Prober& prober, const std::string& reason) {
  const std::filesystem::path parent = lane.state_dir() / "forensics";
  BK_TRY(make_room(parent));
  const std::filesystem::path dir = parent / stamp();
  BK_TRY(make_directories(dir));
  const std::vector<std::string> secrets = {lane.api_key()};
  const auto keep = [&](const std::string& name, const std::string& text) {
    return write_file_atomic(dir / name, redact(text, secrets));
  };
  BK_TRY(keep("reason.txt", reason + "\n"));
  const std::size_t ranks = std::max<std::size_t>(1, lane.profile().nodes.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::string end = rank == 0 ? "" : fmt::format(".rank{}", rank);
    const auto log = lane.log_path().empty() ? Result<std::string>(fail(Errc::kUnavailable, "launched elsewhere"))
                                             : read_tail(lane.log_path().string() + end, kLogBytes);
    BK_TRY(keep("engine.log" + end, log ? last_lines(*log, kLogLines) : text_or_reason(log)));
  }
  BK_TRY(keep("process.txt", process_text(lane.pid())));
  BK_TRY(keep("meminfo.txt", text_or_reason(read_file("/proc/meminfo"))));
  BK_TRY(keep("machine.json", boot::machine_state().dump(2) + "\n"));
  BK_TRY(keep("metrics.txt", text_or_reason(prober.metrics_text(lane.endpoint()))));
  return dir;
}

}  // namespace bk::supervisor
