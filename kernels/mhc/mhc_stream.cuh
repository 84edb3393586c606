#pragma once

#include "common/cluster.cuh"
#include "mhc/mix.cuh"

// Above 16 tokens. A cluster of h/512 blocks takes 16 or 32 tokens; each block has 512 columns of all four streams in
// registers, in the order in which the tensor cores take them, so x is read once: the same registers give the
// projection and the layer's input. The blocks' sums meet, in order, in the block that owns a token.
namespace bk::kernels {

constexpr int kStreamColumns = 512;
constexpr int kSums = kMixes + 1;  // the mixes and the sum of squares

/// 16 tokens a block where there are few, which spreads them wider; 32 where there are many, which reads fn half as
/// often.
template <int kTiles>
struct StreamShape {
  static constexpr int kTokens = 16 * kTiles;
  static constexpr int kWarps = 8 * kTiles;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kUnits = 2 / kTiles;   // of a warp in each stream
  static constexpr int kRows = 2 * kTiles;    // of a lane: lane/4, 8 further, ...
  static constexpr int kInbox = kTokens + 8;  // ranks times tokens of a rank, over every size of cluster
  using Rows = uint4[kStreams][kUnits][kRows];
};

template <int kTiles>
struct StreamScratch {
  using Shape = StreamShape<kTiles>;
  float pre[Shape::kTokens][kStreams];
  float partial[Shape::kWarps][Shape::kTokens][kSums];
  float inbox[Shape::kInbox][kSums];
  float power[Shape::kWarps][Shape::kTokens];
  float powers[8][Shape::kTokens];
};

__device__ inline float sum_of_four(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/// Loads this lane's part of its rows, and puts the warp's sums over its columns into scratch.
template <int kTiles>
__device__ inline void project_rows(const BkMhcPre& job, int first, int column, typename StreamShape<kTiles>::Rows& x,
                                    StreamScratch<kTiles>& scratch) {
  using Shape = StreamShape<kTiles>;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const std::int64_t width = std::int64_t{kStreams} * job.h;
  const auto* rows = static_cast<const __nv_bfloat16*>(job.x) + column;
#pragma unroll
  for (int at = 0; at < kStreams * Shape::kUnits * Shape::kRows; ++at) {
    const int r = at % Shape::kRows;
    const int s = at / Shape::kRows % Shape::kUnits;
    const int j = at / Shape::kRows / Shape::kUnits;
    const int token = first + lane / 4 + r * 8;
    x[j][s][r] = token < job.t ? load_streaming(rows + token * width + j * job.h + s * kUnit) : make_uint4(0, 0, 0, 0);
  }
  float sum[kTiles][3][4] = {};
  float squares[Shape::kRows] = {};
  const float* fn = job.fn + lane / 4 * width + column;
#pragma unroll
  for (int j = 0; j < kStreams; ++j) {
#pragma unroll
    for (int s = 0; s < Shape::kUnits; ++s) {
      multiply_unit<kTiles>(x[j][s], fn + j * job.h + s * kUnit, width, sum);
#pragma unroll
      for (int r = 0; r < Shape::kRows; ++r) squares[r] = squares8(x[j][s][r], squares[r]);
    }
  }
#pragma unroll
  for (int at = 0; at < kTiles * 12; ++at) {
    const int row = lane / 4 + at % 4 / 2 * 8 + at / 12 * 16;
    scratch.partial[warp][row][at / 4 % 3 * 8 + lane % 4 * 2 + at % 2] = sum[at / 12][at / 4 % 3][at % 4];
  }
#pragma unroll
  for (int r = 0; r < Shape::kRows; ++r) {
    const float total = sum_of_four(squares[r]);
    if (lane % 4 == 0) scratch.partial[warp][lane / 4 + r * 8][kMixes] = total;
  }
}

/// The owners add what the ranks sent, give everyone the factors of the layer's input, and write post and comb after
/// having arrived at the barrier that the others wait at.
template <int kTiles>
__device__ inline void finish_owned(const BkMhcPre& job, int first, int rank, int ranks,
                                    StreamScratch<kTiles>& scratch) {
  using Shape = StreamShape<kTiles>;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int locals = (Shape::kTokens + ranks - 1) / ranks;
  float mixes[2] = {};
#pragma unroll
  for (int turn = 0; turn < 2; ++turn) {
    const int local = warp + turn * Shape::kWarps;
    const int token = local * ranks + rank;
    if (local >= locals || token >= Shape::kTokens) continue;
    float sum = 0;
    for (int other = 0; other < ranks; ++other)
      sum += lane < kSums ? scratch.inbox[other * locals + local][lane] : 0.0f;
    const float squares = __shfl_sync(0xffffffffu, sum, kMixes);
    mixes[turn] = affine_mix(job, sum, rsqrtf(squares / static_cast<float>(kStreams * job.h) + kMhcEps));
    const float pre = sigmoid(mixes[turn]) + kMhcEps;
    for (int other = 0; other < ranks && lane < kStreams; ++other) put_remote(&scratch.pre[token][lane], other, pre);
  }
  __syncwarp();
  cluster_arrive();
#pragma unroll
  for (int turn = 0; turn < 2; ++turn) {
    const int local = warp + turn * Shape::kWarps;
    const int token = local * ranks + rank;
    if (local < locals && token < Shape::kTokens && first + token < job.t)
      write_post_comb(job, mixes[turn], first + token);
  }
}

template <int kTiles>
__device__ inline void mix_row(const typename StreamShape<kTiles>::Rows& x, int s, int r,
                               const StreamScratch<kTiles>& scratch, float (&f)[8]) {
  const float4 pre = *reinterpret_cast<const float4*>(scratch.pre[threadIdx.x % 32 / 4 + r * 8]);
  const float factor[kStreams] = {pre.x, pre.y, pre.z, pre.w};
#pragma unroll
  for (int i = 0; i < 8; ++i) f[i] = 0.0f;
#pragma unroll
  for (int j = 0; j < kStreams; ++j) {
    float wide[8];
    widen8(x[j][s][r], wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) f[i] = fmaf(factor[j], wide[i], f[i]);
  }
}

/// One over the root mean square of this lane's rows, over the whole cluster.
template <int kTiles>
__device__ inline void even_out(const typename StreamShape<kTiles>::Rows& x, int rank, int ranks, int h,
                                StreamScratch<kTiles>& scratch, float (&even)[2 * kTiles]) {
  using Shape = StreamShape<kTiles>;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < Shape::kRows; ++r) {
    float power = 0;
#pragma unroll
    for (int s = 0; s < Shape::kUnits; ++s) {
      float f[8];
      mix_row<kTiles>(x, s, r, scratch, f);
#pragma unroll
      for (int i = 0; i < 8; ++i) power = fmaf(f[i], f[i], power);
    }
    power = sum_of_four(power);
    if (lane % 4 == 0) scratch.power[threadIdx.x / 32][lane / 4 + r * 8] = power;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < Shape::kTokens * ranks; i += Shape::kThreads) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < Shape::kWarps; ++w) total += scratch.power[w][i % Shape::kTokens];
    put_remote(&scratch.powers[rank][i % Shape::kTokens], i / Shape::kTokens, total);
  }
  __syncwarp();
  cluster_arrive();
  cluster_wait();
#pragma unroll
  for (int r = 0; r < Shape::kRows; ++r) {
    float total = 0;
    for (int other = 0; other < ranks; ++other) total += scratch.powers[other][lane / 4 + r * 8];
    even[r] = rsqrtf(total / static_cast<float>(h) + kMhcEps);
  }
}

template <int kTiles>
__device__ inline void store_rows(const BkMhcPre& job, const typename StreamShape<kTiles>::Rows& x, int first,
                                  int column, const StreamScratch<kTiles>& scratch, const float (&even)[2 * kTiles]) {
  using Shape = StreamShape<kTiles>;
#pragma unroll
  for (int at = 0; at < Shape::kUnits * Shape::kRows; ++at) {
    const int r = at % Shape::kRows;
    const int s = at / Shape::kRows;
    const int token = first + threadIdx.x % 32 / 4 + r * 8;
    float f[8];
    mix_row<kTiles>(x, s, r, scratch, f);
    uint4 out = narrow8(f);
    if (job.norm != nullptr) {
      float w[8];
      widen8(out, f);
      widen8(load_cached(static_cast<const __nv_bfloat16*>(job.norm) + column + s * kUnit), w);
#pragma unroll
      for (int i = 0; i < 8; ++i) f[i] = f[i] * even[r] * w[i];
      out = narrow8(f);
    }
    if (token < job.t) {
      auto* to = static_cast<__nv_bfloat16*>(job.layer_in) + std::int64_t{token} * job.h + column + s * kUnit;
      *reinterpret_cast<uint4*>(to) = out;
    }
  }
}

template <int kTiles>
__device__ inline void stream_block(const BkMhcPre& job, int ranks) {
  using Shape = StreamShape<kTiles>;
  extern __shared__ __align__(16) unsigned char stream_shared[];
  auto& scratch = *reinterpret_cast<StreamScratch<kTiles>*>(stream_shared);
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");  // everyone has to run before anyone writes to him
  const int rank = cluster_rank();
  const int first = blockIdx.x / ranks * Shape::kTokens;
  const int column = rank * kStreamColumns + threadIdx.x / 32 * (Shape::kUnits * kUnit) + threadIdx.x % 4 * 8;
  typename Shape::Rows x;
  project_rows<kTiles>(job, first, column, x, scratch);
  __syncthreads();
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  const int locals = (Shape::kTokens + ranks - 1) / ranks;
  for (int i = threadIdx.x; i < Shape::kTokens * kSums; i += Shape::kThreads) {
    const int token = i / kSums;
    float total = 0;
#pragma unroll
    for (int w = 0; w < Shape::kWarps; ++w) total += scratch.partial[w][token][i % kSums];
    put_remote(&scratch.inbox[rank * locals + token / ranks][i % kSums], token % ranks, total);
  }
  __syncwarp();
  cluster_arrive();
  cluster_wait();
  finish_owned<kTiles>(job, first, rank, ranks, scratch);
  __syncwarp();
  cluster_wait();
  float even[Shape::kRows] = {};
  if (job.norm != nullptr) even_out<kTiles>(x, rank, ranks, job.h, scratch, even);
  store_rows<kTiles>(job, x, first, column, scratch, even);
}

template <int kTiles>
__global__ __launch_bounds__(StreamShape<kTiles>::kThreads,
                             kTiles == 1 ? kFewBlocks : 1) void mhc_stream_kernel(const __grid_constant__ BkMhcPre job,
                                                                                  int ranks) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
  if constexpr (kTiles > 1) __trap();  // never launched there: it would need more registers than there are
  if constexpr (kTiles == 1)
#endif
    stream_block<kTiles>(job, ranks);
}

}  // namespace bk::kernels
