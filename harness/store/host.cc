#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "store/store.h"

namespace bk::store {
namespace {

/// "key : value" or "key=value" lines of a small system file; the first value of a key, "" when absent.
std::string field_of(const std::string& text, std::string_view key, char separator) {
  for (const std::string_view line : split_lines(text)) {
    const std::size_t at = line.find(separator);
    if (at == std::string_view::npos || trim(line.substr(0, at)) != key) continue;
    std::string_view value = trim(line.substr(at + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

std::string text_of(const std::filesystem::path& path) { return read_file(path).value_or(std::string()); }

/// x86 names its model; arm64 gives implementer and part numbers, and big.LITTLE machines have several.
std::string cpu_name() {
  const std::string info = text_of("/proc/cpuinfo");
  if (std::string name = field_of(info, "model name", ':'); !name.empty()) return name;
  std::set<std::string> parts;
  for (const std::string_view line : split_lines(info)) {
    const std::size_t at = line.find(':');
    if (at != std::string_view::npos && trim(line.substr(0, at)) == "CPU part") {
      parts.insert(std::string(trim(line.substr(at + 1))));
    }
  }
  const std::string implementer = field_of(info, "CPU implementer", ':');
  if (parts.empty()) return "unknown";
  return "implementer " + implementer + " parts " + join({parts.begin(), parts.end()}, " ");
}

std::string gpu_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/driver/nvidia/gpus", error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(field_of(text_of(it->path() / "information"), "Model", ':'));
  }
  std::sort(names.begin(), names.end());
  return join(names, "; ");
}

}  // namespace

HostRow this_host() {
  HostRow host;
  utsname names{};
  if (uname(&names) == 0) {
    host.name = names.nodename;
    host.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  }
  host.os = field_of(text_of("/etc/os-release"), "PRETTY_NAME", '=');
  host.cpu = cpu_name();
  host.gpu = gpu_names();
  const std::string driver = text_of("/proc/driver/nvidia/version");
  if (!driver.empty()) host.driver = std::string(trim(driver.substr(0, driver.find('\n'))));
  if (const long count = sysconf(_SC_NPROCESSORS_ONLN); count > 0) host.cpu_count = count;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) host.memory_bytes = std::int64_t{pages} * page_bytes;
  Json decisive = Json::array();
  for (const std::string& text : {host.name, host.os, host.kernel, host.cpu, host.gpu, host.driver})
    decisive.push(text);
  decisive.push(host.cpu_count).push(host.memory_bytes);
  host.fingerprint = sha256_hex(decisive.dump());
  return host;
}

}  // namespace bk::store
