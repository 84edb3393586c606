#include "common/device.cuh"
#include "oneshot_ar/oneshot_ar.h"
#include "oneshot_ar/protocol.h"

namespace bk::kernels {
namespace {

// The grid never changes, so that every block counts the same calls; 32 blocks are resident at once on any of the
// targets.
constexpr int kBlocks = 32;
constexpr int kThreads = 512;

struct State {
  std::uint32_t call[kBlocks];
};

/// Regions of GPUs that reach each other's memory.
struct PeerTransport {
  const BkOneshotAr& job;

  __device__ static std::uint64_t* word(void* region, std::uint64_t at) {
    return static_cast<std::uint64_t*>(region) + at;
  }
  __device__ std::uint64_t look(std::uint64_t at) {
    std::uint64_t value;
    asm volatile("ld.relaxed.sys.global.b64 %0, [%1];" : "=l"(value) : "l"(word(job.regions[job.rank], at)) : "memory");
    return value;
  }
  __device__ static void put(std::uint64_t* to, std::uint64_t value) {
    asm volatile("st.relaxed.sys.global.b64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
  }
  __device__ void send(int peer, std::uint64_t at, std::uint64_t value) { put(word(job.regions[peer], at), value); }
  __device__ bool peer_gave_up() { return look(0) != 0; }
  __device__ void give_up(std::uint32_t call) {
    for (int rank = 0; rank < job.world; ++rank) put(word(job.regions[rank], 0), call);
  }
  // Only this device writes its report, and few hosts have atomics that hold across the bus.
  __device__ void report(Waited what, std::uint32_t call, int peer) {
    atomicOr(&job.report->missing, 1u << peer);
    atomicMax(&job.report->sequence, call);
    atomicMax(&job.report->phase, static_cast<std::uint32_t>(what));
  }
  __device__ void rest() {}
};

struct Bf16Math {
  __device__ float2 start() const { return make_float2(0.0f, 0.0f); }
  __device__ void add(float2& sum, std::uint32_t pair) const {
    sum.x += bf16_low(pair);
    sum.y += bf16_high(pair);
  }
  __device__ std::uint32_t finish(const float2& sum) const {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(sum.x, sum.y);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
  }
  __device__ std::uint32_t broken() const { return 0x7fff7fffu; }
};

__global__ __launch_bounds__(kThreads) void oneshot_kernel(const __grid_constant__ BkOneshotAr job) {
  auto* state = static_cast<State*>(job.state);
  const std::uint32_t call = next_call(state->call[blockIdx.x]);
  PeerTransport transport{job};
  const OneshotShape shape{job.rank, job.world, static_cast<std::uint32_t>(job.elements / 2), job.report_spins,
                           job.abort_spins};
  all_reduce_lane(transport, Bf16Math{}, shape, call, static_cast<const std::uint32_t*>(job.in),
                  static_cast<std::uint32_t*>(job.out), blockIdx.x * kThreads + threadIdx.x, kBlocks * kThreads);
  __syncthreads();
  if (threadIdx.x == 0) state->call[blockIdx.x] = call;
}

bool is_aligned4(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 4 == 0; }

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

size_t bk_oneshot_region_bytes(int world) { return 8 * word_index(kOneshotSlots - 1, world - 1, world, kOneshotUnits); }

size_t bk_oneshot_state_bytes(void) { return sizeof(State); }

int bk_oneshot_ar(const BkOneshotAr* job, void* stream) {
  if (job == nullptr || job->in == nullptr || job->out == nullptr || job->state == nullptr || job->report == nullptr)
    return BK_KERNEL_BAD_ARGUMENT;
  if (job->world < 2 || job->world > BK_ONESHOT_MAX_WORLD || job->rank < 0 || job->rank >= job->world ||
      job->elements < 2 || job->elements % 2 != 0 || job->elements > BK_ONESHOT_MAX_ELEMENTS ||
      job->abort_spins < job->report_spins) {
    return BK_KERNEL_BAD_SHAPE;
  }
  for (int rank = 0; rank < job->world; ++rank) {
    if (job->regions[rank] == nullptr) return BK_KERNEL_BAD_ARGUMENT;
  }
  if (!is_aligned4(job->in) || !is_aligned4(job->out)) return BK_KERNEL_BAD_ALIGNMENT;
  oneshot_kernel<<<kBlocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}
