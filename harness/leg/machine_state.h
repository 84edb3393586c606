#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace bk::leg {

/// One GPU as nvidia-smi shows it.
struct GpuState {
  int index = 0;
  std::optional<double> sm_mhz, temperature_c, power_w;
  std::optional<std::uint64_t> slow_reasons;  ///< the driver's bit mask of what holds the clock down
};

/// This machine at one moment, as far as it can be had.
struct MachineState {
  std::optional<double> load_1min;
  std::optional<double> busy_share;  ///< of all cores, over the look itself, 0..1
  std::optional<double> cpu_mhz;     ///< mean over the cores
  std::vector<GpuState> gpus;
};

/// Looks for 100 ms at the processors, and once at the GPUs where nvidia-smi is there.
[[nodiscard]] MachineState read_machine_state();
/// What `nvidia-smi --query-gpu=index,clocks.sm,temperature.gpu,power.draw,clocks_throttle_reasons.active
/// --format=csv,noheader,nounits` printed. Fields that it does not know are absent.
[[nodiscard]] std::vector<GpuState> parse_gpu_states(const std::string& text);
/// Busy share between two "cpu " lines of /proc/stat; nothing when either is none or no time has passed.
[[nodiscard]] std::optional<double> busy_share(const std::string& before, const std::string& after);

/// Why a leg between these two states is not to be trusted: "foreign_load" (more than a quarter of the cores busy while
/// nothing was asked of the server), "gpu_throttled" (slowed for heat or power brake). Empty: nothing seen.
[[nodiscard]] std::vector<std::string> machine_marks(const MachineState& before, const MachineState& after);
[[nodiscard]] Json to_json(const MachineState& state);

}  // namespace bk::leg
