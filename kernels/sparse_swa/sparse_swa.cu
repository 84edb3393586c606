#include "common/device.cuh"
#include "common/fp8.cuh"
#include "sparse_swa/sparse_swa.h"

namespace bk::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kDataBytes = 576;
constexpr int kScaleBytes = 8;
constexpr int kGroups = 7;
constexpr int kRopeAt = 448;

/// Slots of tokens begin, begin + 1, ... of one request, by a block.
__device__ inline void write_list(const std::int32_t* blocks, int width, int begin, int length, int list_width,
                                  std::int32_t* slots) {
  for (int i = threadIdx.x; i < list_width; i += kThreads) {
    const int token = begin + i;
    const bool real = i < length && token / BK_SWA_BLOCK < width;
    slots[i] = real ? __ldg(blocks + token / BK_SWA_BLOCK) * BK_SWA_BLOCK + token % BK_SWA_BLOCK : -1;
  }
}

__global__ __launch_bounds__(kThreads) void decode_kernel(const __grid_constant__ BkSwaDecode job) {
  const std::int64_t token = blockIdx.x;
  const int row = __ldg(job.token_rows + token);
  const int position = static_cast<int>(__ldg(job.positions + token));
  const int begin = max(position - (BK_SWA_WINDOW - 1), 0);
  const int length = row < 0 || position < 0 ? 0 : position + 1 - begin;
  write_list(job.block_table + std::int64_t{max(row, 0)} * job.width, job.width, begin, length, BK_SWA_WINDOW,
             job.slots + token * BK_SWA_WINDOW);
  if (threadIdx.x == 0) job.lengths[token] = length;
}

__global__ __launch_bounds__(kThreads) void draft_kernel(const __grid_constant__ BkSwaDraft job) {
  const std::int64_t request = blockIdx.x;
  const int begin = max(__ldg(job.prefix + request) - BK_SWA_WINDOW, 0);
  const int length = min(max(__ldg(job.seq_lens + request) - begin, 0), job.list_width);
  write_list(job.block_table + request * job.width, job.width, begin, length, job.list_width,
             job.slots + request * job.list_width);
  if (threadIdx.x == 0) job.lengths[request] = length;
}

__global__ __launch_bounds__(kThreads) void windows_kernel(const __grid_constant__ BkSwaWindows job) {
  const std::int64_t place = blockIdx.x;
  const std::int64_t token = place + job.first;
  const bool valid = __ldg(job.valid + token) != 0;
  const int row = valid ? __ldg(job.token_rows + token) : 0;
  const int start = __ldg(job.query_start + row);
  const int seq_len = __ldg(job.seq_lens + row);
  const int prefix = seq_len - (__ldg(job.query_start + row + 1) - start);
  const int position = prefix + static_cast<int>(token) - start;
  const int begin = max(job.causal != 0 ? position - (BK_SWA_WINDOW - 1) : prefix - BK_SWA_WINDOW, 0);
  const int end = job.causal != 0 ? position + 1 : seq_len;
  const int length = valid ? min(max(end - begin, 0), job.list_width) : 0;
  write_list(job.block_table + row * job.table_stride, job.width, begin, length, job.list_width,
             job.slots + place * job.slots_stride);
  if (threadIdx.x == 0) job.lengths[place] = length;
}

/// A warp packs one token; a lane has two neighbours of each group of 64.
__global__ __launch_bounds__(kThreads) void pack_kernel(const __grid_constant__ BkSwaPack job) {
  const int lane = threadIdx.x % 32;
  const int token = blockIdx.x * kWarps + threadIdx.x / 32;
  if (token >= job.t) return;
  const std::int64_t slot = __ldg(job.slots + token);
  if (slot < 0 || slot >= job.page_count * BK_SWA_BLOCK) return;
  auto* page = static_cast<unsigned char*>(job.pages) + slot / BK_SWA_BLOCK * BK_SWA_PAGE_BYTES;
  const auto place = static_cast<int>(slot % BK_SWA_BLOCK);
  unsigned char* data = page + place * kDataBytes;
  const auto* kv = static_cast<const std::uint32_t*>(job.kv) + std::int64_t{token} * (BK_SWA_DIM / 2) + lane;
  std::uint64_t scales = 0;
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    const std::uint32_t pair = __ldg(kv + group * 32);
    const float a = bf16_low(pair);
    const float b = bf16_high(pair);
    const float scale = power_scale(warp_max(fmaxf(fabsf(a), fabsf(b))));
    const std::uint32_t bytes = e4m3_of(a / scale) | e4m3_of(b / scale) << 8;
    reinterpret_cast<std::uint16_t*>(data)[group * 32 + lane] = static_cast<std::uint16_t>(bytes);
    scales |= static_cast<std::uint64_t>(__float_as_uint(scale) >> 23) << (8 * group);
  }
  reinterpret_cast<std::uint32_t*>(data + kRopeAt)[lane] = __ldg(kv + kGroups * 32);
  if (lane == 0) *reinterpret_cast<std::uint64_t*>(page + BK_SWA_BLOCK * kDataBytes + place * kScaleBytes) = scales;
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_swa_draft_width(int drafts) {
  for (const int width : {128, 512, 1024}) {
    if (drafts >= 0 && width >= BK_SWA_WINDOW + drafts) return width;
  }
  return 0;
}

int bk_swa_decode(const BkSwaDecode* job, void* stream) {
  if (job == nullptr || job->positions == nullptr || job->token_rows == nullptr || job->block_table == nullptr ||
      job->slots == nullptr || job->lengths == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->t < 1 || job->width < 1) return BK_KERNEL_BAD_SHAPE;
  decode_kernel<<<job->t, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}

int bk_swa_draft(const BkSwaDraft* job, void* stream) {
  if (job == nullptr || job->prefix == nullptr || job->seq_lens == nullptr || job->block_table == nullptr ||
      job->slots == nullptr || job->lengths == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->requests < 1 || job->width < 1 || job->list_width < BK_SWA_WINDOW) return BK_KERNEL_BAD_SHAPE;
  draft_kernel<<<job->requests, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}

int bk_swa_windows(const BkSwaWindows* job, void* stream) {
  if (job == nullptr || job->query_start == nullptr || job->seq_lens == nullptr || job->token_rows == nullptr ||
      job->valid == nullptr || job->block_table == nullptr || job->slots == nullptr || job->lengths == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->t < 1 || job->first < 0 || job->width < 1 || job->list_width < BK_SWA_WINDOW ||
      job->slots_stride < job->list_width || job->table_stride < job->width) {
    return BK_KERNEL_BAD_SHAPE;
  }
  windows_kernel<<<job->t, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}

int bk_swa_pack(const BkSwaPack* job, void* stream) {
  if (job == nullptr || job->kv == nullptr || job->slots == nullptr || job->pages == nullptr)
    return BK_KERNEL_BAD_ARGUMENT;
  if (job->t < 1 || job->page_count < 1) return BK_KERNEL_BAD_SHAPE;
  if (!is_aligned16(job->kv) || !is_aligned16(job->pages)) return BK_KERNEL_BAD_ALIGNMENT;
  pack_kernel<<<(job->t + kWarps - 1) / kWarps, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}
