// What stands around a leg: the machine, and the client's own cost.
#include "leg/machine_state.h"

#include <catch2/catch.hpp>

#include "load/honesty.h"

namespace bk::test {
namespace {

TEST_CASE("GPU lines of nvidia-smi are read, and what it does not know is absent") {
  const auto gpus =
      leg::parse_gpu_states("0, 1980, 41, 112.53, 0x0000000000000000\n1, 345, 77, [N/A], 0x0000000000000020\n");
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].sm_mhz == 1980);
  CHECK(gpus[0].temperature_c == 41);
  CHECK(gpus[0].power_w == 112.53);
  CHECK(gpus[0].slow_reasons == std::uint64_t{0});
  CHECK(gpus[1].index == 1);
  CHECK_FALSE(gpus[1].power_w);
  CHECK(gpus[1].slow_reasons == std::uint64_t{0x20});
  CHECK(leg::parse_gpu_states("No devices were found\n").empty());
  CHECK_FALSE(leg::parse_gpu_states("0, 1, 2, 3, Not Supported\n").front().slow_reasons);
}

TEST_CASE("The busy share comes from two readings of the kernel's tick counts") {
  // user nice system idle iowait irq softirq steal guest guest_nice: 100 ticks later, 30 of them busy
  const std::string before = "cpu  100 0 50 800 20 0 5 0 60 0\ncpu0 1 1 1 1\n";
  const std::string after = "cpu  120 0 58 860 30 0 7 0 75 0\ncpu0 1 1 1 1\n";
  CHECK(leg::busy_share(before, after).value() == Approx(0.30));
  CHECK_FALSE(leg::busy_share(before, before));
  CHECK_FALSE(leg::busy_share("", after));
}

TEST_CASE("A foreign load and a throttled GPU are marked, rest and an idle GPU are not") {
  leg::MachineState rest;
  rest.busy_share = 0.05;
  leg::GpuState idle;
  idle.slow_reasons = 0x1;
  rest.gpus = {idle};
  leg::MachineState loaded = rest;
  loaded.busy_share = 0.6;
  leg::MachineState hot = rest;
  hot.gpus[0].slow_reasons = 0x40;
  CHECK(leg::machine_marks(rest, rest).empty());
  CHECK(leg::machine_marks(leg::MachineState{}, leg::MachineState{}).empty());
  CHECK(leg::machine_marks(rest, loaded) == std::vector<std::string>{"foreign_load"});
  CHECK(leg::machine_marks(rest, hot) == std::vector<std::string>{"gpu_throttled"});
  CHECK(leg::machine_marks(hot, loaded) == std::vector<std::string>{"foreign_load", "gpu_throttled"});
}

TEST_CASE("A client that could be the bottleneck says so") {
  CHECK(load::client_marks({0.30, 2 * kMillisecond}).empty());
  CHECK(load::client_marks({0.95, 2 * kMillisecond}) == std::vector<std::string>{"client_cpu"});
  CHECK(load::client_marks({0.95, 40 * kMillisecond}) == std::vector<std::string>{"client_cpu", "client_delay"});
}

}  // namespace
}  // namespace bk::test
