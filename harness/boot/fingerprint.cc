#include "boot/fingerprint.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/version.h"

namespace bk::boot {
namespace {

constexpr const char* kHidden = "***";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The value after "name" and a colon in a /proc table.
std::optional<std::string> table_value(const std::string& table, std::string_view name) {
  for (const std::string_view line : split_lines(table)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == name)
      return std::string(trim(line.substr(colon + 1)));
  }
  return {};
}

Json first_line(const char* path) {
  const auto text = read_file(path);
  if (!text) return {};
  return Json(std::string(trim(*text)));
}

Json cpu_state() {
  const std::string table = read_file("/proc/cpuinfo").value_or("");
  Json cpu = Json::object();
  auto model = table_value(table, "model name");
  if (!model) model = table_value(table, "CPU part");  // arm64 kernels name no model
  const auto mhz = parse_double(table_value(table, "cpu MHz").value_or(""));
  cpu.set("model", model).set("cores", static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpu.set("frequency_mhz", mhz).set("governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  return cpu;
}

Json memory_state() {
  const std::string table = read_file("/proc/meminfo").value_or("");
  Json memory = Json::object();
  for (const auto& [field, name] : {std::pair("total_mb", "MemTotal"), std::pair("available_mb", "MemAvailable")}) {
    const std::string text = table_value(table, name).value_or("");
    const auto kib = parse_int(text.substr(0, text.find(' ')));
    memory.set(field, kib ? Json(*kib / 1024) : Json());
  }
  return memory;
}

Json load_averages() {
  const auto text = read_file("/proc/loadavg");
  if (!text) return {};
  Json list = Json::array();
  const auto words = split(trim(*text), ' ');
  for (std::size_t i = 0; i < 3 && i < words.size(); ++i) list.push(Json(parse_double(words[i])));
  return list;
}

void add_gpus(Json& state) {
  static const std::vector<std::string> kFields = {"name",
                                                   "driver_version",
                                                   "clocks.sm",
                                                   "clocks.mem",
                                                   "temperature.gpu",
                                                   "power.draw",
                                                   "memory.used",
                                                   "clocks_throttle_reasons.active"};
  const auto asked = run_captured(
      {{"nvidia-smi", "--query-gpu=" + join(kFields, ","), "--format=csv,noheader,nounits"}, {}, "", ""}, 5 * kSecond);
  state.set("gpus", Json());
  if (!asked || !asked->exit.ok()) {
    state.set("gpus_reason", asked ? "nvidia_smi_failed" : "no_nvidia_smi");
    return;
  }
  Json gpus = Json::array();
  for (const std::string_view line : split_lines(asked->out)) {
    const auto values = split(line, ',');
    if (values.size() != kFields.size()) continue;
    Json gpu = Json::object();
    for (std::size_t i = 0; i < kFields.size(); ++i) gpu.set(kFields[i], std::string(trim(values[i])));
    gpus.push(std::move(gpu));
  }
  state.set("gpus", std::move(gpus));
}

Json to_json(const KnobMap& knobs) {
  Json object = Json::object();
  for (const auto& [name, value] : knobs) object.set(name, value);
  return object;
}

}  // namespace

bool names_secret(std::string_view name) {
  const std::string lower = to_lower(name);
  for (const char* end : {"key", "token", "secret", "password", "passwd", "credentials"}) {
    if (ends_with(lower, end)) return true;
  }
  return false;
}

Json machine_state() {
  Json state = Json::object();
  utsname names{};
  if (uname(&names) == 0) {
    state.set("host_id", sha256_hex(names.nodename).substr(0, 12))
        .set("kernel", names.release)
        .set("machine", names.machine);
  }
  state.set("cpu", cpu_state()).set("memory", memory_state()).set("load_average", load_averages());
  add_gpus(state);
  return state;
}

std::vector<std::string> redacted_argv(const std::vector<std::string>& argv, const std::vector<std::string>& secrets) {
  std::vector<std::string> shown;
  bool hide_next = false;
  for (const std::string& word : argv) {
    const std::size_t equals = word.find('=');
    const bool is_flag = word.substr(0, 1) == "-";
    const bool secret_flag = is_flag && names_secret(std::string_view(word).substr(0, equals));
    if (hide_next && !is_flag) {
      shown.emplace_back(kHidden);
    } else if (secret_flag && equals != std::string::npos) {
      shown.push_back(word.substr(0, equals + 1) + kHidden);
    } else {
      shown.push_back(redact(word, secrets));
    }
    hide_next = secret_flag && equals == std::string::npos;
  }
  return shown;
}

Json redacted_environment(const Environment& added, const std::vector<std::string>& secrets) {
  Json shown = Json::object();
  for (const auto& [name, value] : added)
    shown.set(name, names_secret(name) ? std::string(kHidden) : redact(value, secrets));
  return shown;
}

void set_image(Json& fingerprint, const std::string& image_id) {
  fingerprint.set("image_id", image_id.empty() ? Json() : Json(image_id));
  if (image_id.empty()) fingerprint.set("image_id_reason", "no_container");
}

Json configuration(const Profile& profile, const Arm& arm, const Command& command,
                   const std::vector<std::string>& secrets) {
  Json json = Json::object();
  json.set("profile", profile.name).set("profile_hash", profile_hash(profile));
  json.set("arm", arm.label).set("arm_hash", arm_hash(profile, arm));
  json.set("knobs_set", to_json(arm.set)).set("knobs", to_json(arm.resolved));
  std::vector<std::string> from_caller;
  for (const Knob& knob : profile.knobs) {
    if (knob.from_caller) from_caller.push_back(knob.name);
  }
  json.set("knobs_from_environment", from_caller);
  json.set("command", redacted_argv(command.argv, secrets))
      .set("environment", redacted_environment(command.env, secrets));
  json.set("tool_version", version()).set("tool_commit", commit());
  return json;
}

}  // namespace bk::boot
