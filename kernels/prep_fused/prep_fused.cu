// A row of blocks for each group, and one for what is common to all. A thread does a piece of the group's block table,
// and the first ones a token or a request; powers of two make the divisions shifts. The words of a usual step travel
// with the launch, as its argument: a copy of their own would take as long again.
#include <cstring>

#include "common/device.cuh"
#include "prep_fused/prep_fused.h"

namespace bk::kernels {
namespace {

constexpr int kThreads = 256;

__device__ inline int shift_of(int power) { return __ffs(power) - 1; }

struct Token {
  int row;
  int position;
  bool live;
};

__device__ inline Token token_of(const BkPrep& job, const std::int32_t* words, int i) {
  const int row = i >> shift_of(job.query);
  const bool live = row < words[0];
  return {row, live ? words[1 + row] + (i & (job.query - 1)) : 0, live};
}

__device__ inline void common_tensors(const BkPrep& job, const std::int32_t* words, int i) {
  const int live = words[0];
  if (i < job.requests * job.query) {
    const Token token = token_of(job, words, i);
    job.positions[i] = token.position;
    job.logits_index[i] = token.live ? i : -1;
  }
  if (i < job.requests) job.seq_lens[i] = i < live ? words[1 + i] + job.query : 0;
  if (i <= job.requests) job.query_start[i] = min(i, live) * job.query;
}

__device__ inline void group_tensors(const BkPrep& job, const BkPrepGroup& group, int number, const std::int32_t* words,
                                     int i) {
  const std::int32_t* begins = words + 1 + job.requests + number * (job.requests + 1);
  const int per_entry = shift_of(group.ratio);
  const int per_block = shift_of(group.block_size);
  if (i < job.requests * job.query) {
    const Token token = token_of(job, words, i);
    const int entry = token.position >> per_entry;
    std::int64_t slot = -1;
    if (token.live && ((token.position + 1) & (group.ratio - 1)) == 0) {
      const std::int64_t block = words[begins[token.row] + (entry >> per_block)];
      slot = (block << per_block) + (entry & (group.block_size - 1));
    }
    group.slots[i] = slot;
    group.token_seq_lens[i] = token.live ? (token.position + 1) >> per_entry : 0;
    group.token_rows[i] = token.live ? token.row : 0;
  }
  if (i < job.requests) {
    const int entries = i < words[0] ? (words[1 + i] + job.query) >> per_entry : 0;
    group.seq_lens[i] = entries;
    group.block_counts[i] = (entries + group.block_size - 1) >> per_block;
  }
  const int all = job.requests * group.width;
  for (int at = i; at < all; at += gridDim.x * kThreads) {
    const int row = at / group.width;
    const int place = begins[row] + at - row * group.width;
    group.block_table[at] = place < begins[row + 1] ? words[place] : 0;
  }
}

__device__ inline void prepare(const BkPrep& job, const std::int32_t* words) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int number = blockIdx.y;
  if (number == job.groups) {
    common_tensors(job, words, i);
  } else {
    group_tensors(job, job.group[number], number, words, i);
  }
}

__global__ __launch_bounds__(kThreads) void prep_copied_kernel(const __grid_constant__ BkPrep job) {
  prepare(job, static_cast<const std::int32_t*>(job.packed));
}

template <int kBytes>
struct Words {
  std::int32_t word[kBytes / 4];
};

template <int kBytes>
__global__ __launch_bounds__(kThreads) void prep_carried_kernel(const __grid_constant__ BkPrep job,
                                                                const __grid_constant__ Words<kBytes> words) {
  prepare(job, words.word);
}

template <int kBytes>
void launch_carried(const BkPrep& job, dim3 grid, cudaStream_t stream) {
  Words<kBytes> words;
  std::memcpy(words.word, job.staging, static_cast<std::size_t>(job.bytes));
  prep_carried_kernel<kBytes><<<grid, kThreads, 0, stream>>>(job, words);
}

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

/// A captured launch would keep the words of the first step, so there they are copied.
int launch(const BkPrep& job, dim3 grid, cudaStream_t stream) {
  constexpr int kMost = 8 * 1024;  // with more a copy is quicker
  if (job.bytes > kMost || is_capturing(stream)) {
    if (cudaMemcpyAsync(job.packed, job.staging, static_cast<std::size_t>(job.bytes), cudaMemcpyHostToDevice, stream) !=
        cudaSuccess)
      return BK_KERNEL_LAUNCH_FAILED;
    prep_copied_kernel<<<grid, kThreads, 0, stream>>>(job);
  } else if (job.bytes <= 2 * 1024) {
    launch_carried<2 * 1024>(job, grid, stream);
  } else {
    launch_carried<kMost>(job, grid, stream);
  }
  return launch_status(cudaGetLastError());
}

bool is_power(int value) { return value > 0 && (value & (value - 1)) == 0; }

int check_group(const BkPrepGroup& group) {
  if (group.block_table == nullptr || group.slots == nullptr || group.seq_lens == nullptr ||
      group.token_seq_lens == nullptr || group.token_rows == nullptr || group.block_counts == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  const bool fits = is_power(group.block_size) && is_power(group.ratio) && group.width >= 1 && group.width <= 1 << 20;
  return fits ? BK_KERNEL_OK : BK_KERNEL_BAD_SHAPE;
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_prep_fused(const BkPrep* job, void* stream) {
  if (job == nullptr || job->staging == nullptr || job->packed == nullptr || job->positions == nullptr ||
      job->seq_lens == nullptr || job->query_start == nullptr || job->logits_index == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->groups < 1 || job->groups > BK_PREP_MAX_GROUPS || job->requests < 1 ||
      job->requests > BK_PREP_MAX_REQUESTS || !is_power(job->query) || job->query > BK_PREP_MAX_QUERY ||
      job->bytes < 4 * (1 + job->requests + job->groups * (job->requests + 1))) {
    return BK_KERNEL_BAD_SHAPE;
  }
  int widest = 0;
  for (int g = 0; g < job->groups; ++g) {
    if (const int status = check_group(job->group[g]); status != BK_KERNEL_OK) return status;
    widest = max(widest, job->group[g].width);
  }
  const int first = max(job->requests * job->query, job->requests + 1);
  const int table = min((job->requests * widest + 4 * kThreads - 1) / (4 * kThreads), 64);
  const dim3 grid(max((first + kThreads - 1) / kThreads, table), job->groups + 1);
  return launch(*job, grid, static_cast<cudaStream_t>(stream));
}
