#include "leg/machine_state.h"

#include <filesystem>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace bk::leg {
namespace {

constexpr Nanos kLook = 100 * kMillisecond;
constexpr Nanos kGpuLimit = 5 * kSecond;
constexpr double kForeignShare = 0.25;
// Hardware slowdown, software and hardware thermal slowdown, power brake. Source: NVML's clocks event reasons.
constexpr std::uint64_t kSlowBits = 0x8 | 0x20 | 0x40 | 0x80;

std::string text_of(const std::filesystem::path& path) { return read_file(path).value_or(std::string()); }

std::optional<double> load_average() {
  const std::string text = text_of("/proc/loadavg");
  return parse_double(split(text, ' ').front());
}

/// x86 tells each core's clock in /proc/cpuinfo, arm64 only under cpufreq, virtual machines at times nowhere.
std::optional<double> mean_clock() {
  double sum = 0;
  int count = 0;
  const auto add = [&](std::optional<double> mhz) {
    if (!mhz || *mhz <= 0) return;
    sum += *mhz;
    ++count;
  };
  std::error_code error;
  for (std::filesystem::directory_iterator it("/sys/devices/system/cpu", error), end; !error && it != end;
       it.increment(error)) {
    const std::string khz = text_of(it->path() / "cpufreq/scaling_cur_freq");
    if (const auto value = parse_double(trim(khz))) add(*value / 1000);
  }
  if (count == 0) {
    const std::string info = text_of("/proc/cpuinfo");
    for (const std::string_view line : split_lines(info)) {
      if (line.starts_with("cpu MHz")) add(parse_double(trim(line.substr(line.find(':') + 1))));
    }
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

struct Ticks {
  double all = 0, idle = 0;
};

std::optional<Ticks> ticks_of(const std::string& stat) {
  const auto lines = split_lines(stat);
  if (lines.empty() || !lines.front().starts_with("cpu ")) return std::nullopt;
  Ticks ticks;
  int field = 0;
  for (const std::string_view word : split(lines.front().substr(4), ' ')) {
    const auto value = parse_double(word);
    if (!value) continue;
    ++field;
    if (field > 8) break;  // guest time is in user time already
    ticks.all += *value;
    if (field == 4 || field == 5) ticks.idle += *value;
  }
  return ticks;
}

std::vector<GpuState> gpu_states() {
  const auto said = run_captured({{"nvidia-smi",
                                   "--query-gpu=index,clocks.sm,temperature.gpu,power.draw,"
                                   "clocks_throttle_reasons.active",
                                   "--format=csv,noheader,nounits"},
                                  {},
                                  "",
                                  ""},
                                 kGpuLimit);
  if (!said || !said->exit.ok()) return {};
  return parse_gpu_states(said->out);
}

std::optional<std::uint64_t> parse_mask(std::string_view text) {
  if (!text.starts_with("0x") || text.size() > 18) return std::nullopt;
  std::uint64_t mask = 0;
  for (const char c : to_lower(text.substr(2))) {
    const auto digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    mask = mask * 16 + digit;
  }
  return mask;
}

}  // namespace

std::vector<GpuState> parse_gpu_states(const std::string& text) {
  std::vector<GpuState> gpus;
  for (const std::string_view line : split_lines(text)) {
    const auto fields = split(line, ',');
    const auto index = parse_int(trim(fields.front()));
    if (fields.size() < 5 || !index) continue;
    gpus.push_back({static_cast<int>(*index), parse_double(trim(fields[1])), parse_double(trim(fields[2])),
                    parse_double(trim(fields[3])), parse_mask(trim(fields[4]))});
  }
  return gpus;
}

std::optional<double> busy_share(const std::string& before, const std::string& after) {
  const auto first = ticks_of(before);
  const auto last = ticks_of(after);
  if (!first || !last || last->all <= first->all) return std::nullopt;
  return 1 - (last->idle - first->idle) / (last->all - first->all);
}

MachineState read_machine_state() {
  MachineState state;
  const std::string before = text_of("/proc/stat");
  SystemClock clock;
  clock.sleep_until(clock.now() + kLook);
  state.busy_share = busy_share(before, text_of("/proc/stat"));
  state.load_1min = load_average();
  state.cpu_mhz = mean_clock();
  state.gpus = gpu_states();
  return state;
}

std::vector<std::string> machine_marks(const MachineState& before, const MachineState& after) {
  std::vector<std::string> marks;
  if (before.busy_share.value_or(0) > kForeignShare || after.busy_share.value_or(0) > kForeignShare) {
    marks.emplace_back("foreign_load");
  }
  for (const MachineState* state : {&before, &after}) {
    for (const GpuState& gpu : state->gpus) {
      if ((gpu.slow_reasons.value_or(0) & kSlowBits) == 0) continue;
      marks.emplace_back("gpu_throttled");
      return marks;
    }
  }
  return marks;
}

Json to_json(const MachineState& state) {
  Json json = Json::object();
  json.set("load_1min", state.load_1min).set("cpu_busy_share", state.busy_share).set("cpu_mhz", state.cpu_mhz);
  Json gpus = Json::array();
  for (const GpuState& gpu : state.gpus) {
    Json one = Json::object();
    one.set("index", gpu.index).set("sm_mhz", gpu.sm_mhz).set("temperature_c", gpu.temperature_c);
    one.set("power_w", gpu.power_w);
    one.set("slow_reasons", gpu.slow_reasons ? Json(fmt::format("{:#x}", *gpu.slow_reasons)) : Json());
    gpus.push(std::move(one));
  }
  return json.set("gpus", std::move(gpus));
}

}  // namespace bk::leg
