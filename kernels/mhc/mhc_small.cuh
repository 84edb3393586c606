#pragma once

#include "mhc/mix.cuh"

// Up to 16 tokens. Blocks of 256 columns each multiply them with fn, which all come from memory at once, and leave the
// sums in the workspace; one more block a token, at the end of the grid, holds the token in registers meanwhile, waits
// for the sums, adds them in order and finishes. The payload is its own flag: an empty slot holds 0xffffffff, which no
// producer writes. Producers never wait, so the launch ends however few blocks fit the device at a time.
//
// With kAfter, x is what the layer before left: both kinds of block make the new streams for themselves, out of the old
// ones, and the producers write them.
namespace bk::kernels {

constexpr int kSmallTokens = 16;
constexpr int kSmallWarps = 8;
constexpr int kSmallThreads = 32 * (kSmallWarps + 1);  // the last warp of a finishing block has the Sinkhorn rounds
constexpr int kSmallColumns = kUnit * kSmallWarps;
constexpr int kMaxChunks = 2;  // of 8 columns and a stream, a thread
constexpr int kSumGroups = 8;
constexpr std::uint32_t kNoSum = 0xffffffffu;

/// Words of the workspace that up to 16 tokens use.
__host__ __device__ inline std::int64_t small_words(int h) {
  return std::int64_t{kSmallTokens} * kMixes * h * kStreams / kSmallColumns;
}

__device__ inline std::uint32_t* sum_slot(const BkMhcPre& job, int slice, int token, int output) {
  return static_cast<std::uint32_t*>(job.workspace) + (slice * kSmallTokens + token) * kMixes + output;
}

/// The new values of stream `to` in 8 columns.
__device__ inline uint4 stream_after(const BkMhcPost& before, std::int64_t token, int column, int to) {
  const auto* x = static_cast<const __nv_bfloat16*>(before.x) + token * kStreams * before.h + column;
  float y[8];
  float f[kStreams][8];
  widen8(load_cached(static_cast<const __nv_bfloat16*>(before.y) + token * before.h + column), y);
#pragma unroll
  for (int j = 0; j < kStreams; ++j) widen8(load_cached(x + j * before.h), f[j]);
  const float post = __ldg(before.post + token * kStreams + to);
  float out[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) out[i] = post * y[i];
#pragma unroll
  for (int j = 0; j < kStreams; ++j) {
    const float comb = __ldg(before.comb + (token * kStreams + j) * kStreams + to);
#pragma unroll
    for (int i = 0; i < 8; ++i) out[i] = fmaf(comb, f[j][i], out[i]);
  }
  return narrow8(out);
}

/// This lane's piece of a token's row of x, new or as it is.
template <bool kAfter>
__device__ inline uint4 small_piece(const BkMhcPre& job, const BkMhcPost& before, int token, int column) {
  if (token >= job.t) return make_uint4(0, 0, 0, 0);
  const std::int64_t at = std::int64_t{token} * kStreams * job.h + column;
  if constexpr (!kAfter) return load_cached(static_cast<const __nv_bfloat16*>(job.x) + at);
  const uint4 made = stream_after(before, token, column % job.h, column / job.h);
  *reinterpret_cast<uint4*>(static_cast<__nv_bfloat16*>(before.out) + at) = made;
  return made;
}

template <bool kAfter>
__device__ inline void small_producer(const BkMhcPre& job, const BkMhcPost& before) {
  __shared__ float partial[kSmallWarps][kSmallTokens][kMixes + 1];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (warp < kSmallWarps) {
    const std::int64_t width = std::int64_t{kStreams} * job.h;
    const int column = blockIdx.x * kSmallColumns + warp * kUnit + lane % 4 * 8;
    const int row = lane / 4;
    const uint4 x[2] = {small_piece<kAfter>(job, before, row, column),
                        small_piece<kAfter>(job, before, row + 8, column)};
    const float* fn = job.fn + row * width + column;
#pragma unroll
    for (int output = 0; output < 3; ++output) {
      float sum[1][4] = {};
      multiply_unit<1>(x, load_cached(fn + output * 8 * width), load_cached(fn + output * 8 * width + 4), sum);
#pragma unroll
      for (int i = 0; i < 4; ++i) partial[warp][row + i / 2 * 8][output * 8 + lane % 4 * 2 + i % 2] = sum[0][i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < job.t * kMixes; i += kSmallThreads) {
    float total = 0;
#pragma unroll
    for (int other = 0; other < kSmallWarps; ++other) total += partial[other][i / kMixes][i % kMixes];
    std::uint32_t bits = __float_as_uint(total);
    if (bits == kNoSum) bits = 0x7fffffffu;
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(sum_slot(job, blockIdx.x, i / kMixes, i % kMixes)),
                 "r"(bits)
                 : "memory");
  }
}

/// Adds `kSumGroups`-th parts of the slices of one output, in order, and empties their slots.
__device__ inline float collect_sums(const BkMhcPre& job, int token, int output, int group) {
  const int slices = job.h * kStreams / kSmallColumns;
  const int per = slices / kSumGroups;  // h is a multiple of 512
  std::uint32_t bits[8];
  std::uint32_t* slot = sum_slot(job, group * per, token, output);
  constexpr int kApart = kSmallTokens * kMixes;
#pragma unroll
  for (int s = 0; s < 8; ++s) bits[s] = s < per ? kNoSum : 0u;
  bool waiting = true;
  while (waiting) {
    waiting = false;
#pragma unroll
    for (int s = 0; s < 8; ++s) {
      if (bits[s] == kNoSum) {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits[s]) : "l"(slot + s * kApart) : "memory");
      }
    }
#pragma unroll
    for (int s = 0; s < 8; ++s) waiting = waiting || bits[s] == kNoSum;
  }
  float total = 0;
#pragma unroll
  for (int s = 0; s < 8; ++s) {
    if (s < per) {
      total += __uint_as_float(bits[s]);
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(slot + s * kApart), "r"(kNoSum) : "memory");
    }
  }
  return total;
}

struct SmallScratch {
  float sums[kSumGroups][kMixes];
  float squares[kSmallWarps + 1];
  float power[kSmallWarps + 1];
};

/// Rounds and stores a token's layer input; `input` holds the sums over the streams in fp32.
__device__ inline void small_store(const BkMhcPre& job, float (&input)[kMaxChunks][8], int token,
                                   SmallScratch& scratch) {
  const int chunks = job.h / 8;
  float even = 1.0f;
  if (job.norm != nullptr) {
    float power = 0;
#pragma unroll
    for (int c = 0; c < kMaxChunks; ++c) {
#pragma unroll
      for (int i = 0; i < 8; ++i) power = fmaf(input[c][i], input[c][i], power);
    }
    power = warp_sum(power);
    if (threadIdx.x % 32 == 0) scratch.power[threadIdx.x / 32] = power;
    __syncthreads();
    power = 0;
#pragma unroll
    for (int w = 0; w < kSmallWarps; ++w) power += scratch.power[w];
    even = rsqrtf(power / static_cast<float>(job.h) + kMhcEps);
  }
#pragma unroll
  for (int c = 0; c < kMaxChunks; ++c) {
    const int chunk = threadIdx.x + c * 32 * kSmallWarps;
    if (threadIdx.x >= 32 * kSmallWarps || chunk >= chunks) continue;
    uint4 out = narrow8(input[c]);
    if (job.norm != nullptr) out = normed8(out, even, static_cast<const __nv_bfloat16*>(job.norm) + chunk * 8);
    *reinterpret_cast<uint4*>(static_cast<__nv_bfloat16*>(job.layer_in) + std::int64_t{token} * job.h + chunk * 8) =
        out;
  }
}

template <bool kAfter>
__device__ inline void small_finisher(const BkMhcPre& job, const BkMhcPost& before, int token) {
  __shared__ SmallScratch scratch;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const auto* x = static_cast<const __nv_bfloat16*>(job.x) + std::int64_t{token} * kStreams * job.h;
  uint4 own[kMaxChunks][kStreams];
  float squares = 0;
#pragma unroll
  for (int c = 0; c < kMaxChunks; ++c) {
    const int chunk = threadIdx.x + c * 32 * kSmallWarps;
    const bool real = warp < kSmallWarps && chunk < job.h / 8;
#pragma unroll
    for (int j = 0; j < kStreams; ++j) {
      own[c][j] = make_uint4(0, 0, 0, 0);
      if constexpr (kAfter) {
        if (real) own[c][j] = stream_after(before, token, chunk * 8, j);
      } else {
        if (real) own[c][j] = load_cached(x + j * job.h + chunk * 8);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < kMaxChunks; ++c) {
#pragma unroll
    for (int j = 0; j < kStreams; ++j) squares = squares8(own[c][j], squares);
  }
  squares = warp_sum(squares);
  if (lane == 0) scratch.squares[warp] = squares;
  if (threadIdx.x < kSumGroups * kMixes) {
    const int group = threadIdx.x / kMixes;
    scratch.sums[group][threadIdx.x % kMixes] = collect_sums(job, token, threadIdx.x % kMixes, group);
  }
  __syncthreads();
  float projection = 0;
  float total = 0;
#pragma unroll
  for (int i = 0; i < kSumGroups; ++i) {
    if (lane < kMixes) projection += scratch.sums[i][lane];
    total += scratch.squares[i];
  }
  const float mix = affine_mix(job, projection, rsqrtf(total / static_cast<float>(kStreams * job.h) + kMhcEps));
  if (warp == kSmallWarps) write_post_comb(job, mix, token);
  const float pre = sigmoid(mix) + kMhcEps;
  float input[kMaxChunks][8] = {};
#pragma unroll
  for (int j = 0; j < kStreams; ++j) {
    const float factor = __shfl_sync(0xffffffffu, pre, j);
#pragma unroll
    for (int c = 0; c < kMaxChunks; ++c) {
      float f[8];
      widen8(own[c][j], f);
#pragma unroll
      for (int i = 0; i < 8; ++i) input[c][i] = fmaf(factor, f[i], input[c][i]);
    }
  }
  small_store(job, input, token, scratch);
}

template <bool kAfter>
__global__ __launch_bounds__(kSmallThreads) void mhc_small_kernel(const __grid_constant__ BkMhcPre job,
                                                                  const __grid_constant__ BkMhcPost before) {
  const int producers = job.h * kStreams / kSmallColumns;
  if (static_cast<int>(blockIdx.x) < producers) {
    small_producer<kAfter>(job, before);
  } else {
    small_finisher<kAfter>(job, before, blockIdx.x - producers);
  }
}

}  // namespace bk::kernels
