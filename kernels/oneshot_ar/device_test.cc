#include <cmath>
#include <memory>

#include "common/device_test_support.h"
#include "oneshot_ar/oneshot_ar.h"

namespace bk::kernels {
namespace {

/// Two GPUs of this process that reach each other's memory.
class Pair {
 public:
  static bool available() {
    int devices = 0;
    int reach[2] = {};
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) return false;
    cudaDeviceCanAccessPeer(&reach[0], 0, 1);
    cudaDeviceCanAccessPeer(&reach[1], 1, 0);
    return reach[0] != 0 && reach[1] != 0;
  }
  Pair() {
    REQUIRE(cudaMallocHost(reinterpret_cast<void**>(&reports_), 2 * sizeof(BkOneshotReport)) == cudaSuccess);
    reports_[0] = reports_[1] = {};
    for (int rank = 0; rank < 2; ++rank) {
      REQUIRE(cudaSetDevice(rank) == cudaSuccess);
      const cudaError_t reached = cudaDeviceEnablePeerAccess(1 - rank, 0);
      REQUIRE((reached == cudaSuccess || reached == cudaErrorPeerAccessAlreadyEnabled));
      cudaGetLastError();
      REQUIRE(cudaMalloc(&regions_[rank], bk_oneshot_region_bytes(2)) == cudaSuccess);
      REQUIRE(cudaMalloc(&states_[rank], bk_oneshot_state_bytes()) == cudaSuccess);
      REQUIRE(cudaMalloc(&data_[rank], BK_ONESHOT_MAX_ELEMENTS * 2) == cudaSuccess);
      REQUIRE(cudaMemset(regions_[rank], 0, bk_oneshot_region_bytes(2)) == cudaSuccess);
      REQUIRE(cudaMemset(states_[rank], 0, bk_oneshot_state_bytes()) == cudaSuccess);
      REQUIRE(cudaStreamCreateWithFlags(&streams_[rank], cudaStreamNonBlocking) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
  }
  ~Pair() {
    for (int rank = 0; rank < 2; ++rank) {
      cudaSetDevice(rank);
      cudaDeviceSynchronize();
      cudaFree(regions_[rank]);
      cudaFree(states_[rank]);
      cudaFree(data_[rank]);
      cudaStreamDestroy(streams_[rank]);
    }
    cudaFreeHost(reports_);
    cudaSetDevice(0);
  }

  BkOneshotAr job(int rank, int elements, std::uint32_t spins = 1u << 26) const {
    return {data_[rank], data_[rank], {regions_[0], regions_[1]}, states_[rank], reports_ + rank, elements, rank, 2,
            spins,       spins};
  }
  void set(int rank, const std::vector<std::uint16_t>& values) {
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(streams_[rank]) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_[rank], values.data(), values.size() * 2, cudaMemcpyHostToDevice) == cudaSuccess);
  }
  std::vector<std::uint16_t> get(int rank, std::size_t count) {
    std::vector<std::uint16_t> out(count);
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(streams_[rank]) == cudaSuccess);
    REQUIRE(cudaMemcpy(out.data(), data_[rank], count * 2, cudaMemcpyDeviceToHost) == cudaSuccess);
    return out;
  }
  int launch(const BkOneshotAr& call) {
    REQUIRE(cudaSetDevice(call.rank) == cudaSuccess);
    return bk_oneshot_ar(&call, streams_[call.rank]);
  }
  cudaStream_t stream(int rank) const { return streams_[rank]; }
  BkOneshotReport report(int rank) const { return reports_[rank]; }

 private:
  void* regions_[2] = {};
  void* states_[2] = {};
  void* data_[2] = {};
  cudaStream_t streams_[2] = {};
  BkOneshotReport* reports_ = nullptr;
};

std::vector<std::uint16_t> sum_of(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
  std::vector<std::uint16_t> out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(to_bf16(from_bf16(a[i]) + from_bf16(b[i])));
  return out;
}

TEST_CASE("two GPUs get the same bits, the sum in the order of ranks, call after call of any size") {
  if (!Pair::available()) {
    WARN("skipped: no two GPUs that reach each other");
    return;
  }
  Draw draw;
  Pair pair;
  const int sizes[] = {24576, 2, 131072, 4096, 24576, 6, 70000};
  for (int i = 0; i < 2000; ++i) {
    const auto count = static_cast<std::size_t>(sizes[i % 7]);
    const bool look = i < 70 || i % 101 == 0;
    std::vector<std::uint16_t> in[2];
    if (look) {
      for (int rank = 0; rank < 2; ++rank) {
        in[rank] = draw.bf16(count, 1.0f);
        pair.set(rank, in[rank]);
      }
    }
    for (int rank = 0; rank < 2; ++rank) REQUIRE(pair.launch(pair.job(rank, static_cast<int>(count))) == BK_KERNEL_OK);
    if (!look) continue;
    INFO("seed " << draw.seed() << " call " << i << " elements " << count);
    const std::vector<std::uint16_t> want = sum_of(in[0], in[1]);
    CHECK(pair.get(0, count) == want);
    CHECK(pair.get(1, count) == want);
  }
  for (int rank = 0; rank < 2; ++rank) CHECK(pair.report(rank).phase == 0);
}

TEST_CASE("graphs of three calls replay on both GPUs, whatever slot they begin at") {
  if (!Pair::available()) {
    WARN("skipped: no two GPUs that reach each other");
    return;
  }
  Pair pair;
  cudaGraphExec_t ready[2] = {};
  for (int rank = 0; rank < 2; ++rank) {
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    REQUIRE(cudaStreamBeginCapture(pair.stream(rank), cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    for (const int elements : {4096, 512, 4096}) CHECK(pair.launch(pair.job(rank, elements)) == BK_KERNEL_OK);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(pair.stream(rank), &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&ready[rank], graph, 0) == cudaSuccess);
    cudaGraphDestroy(graph);
  }
  for (int replay = 0; replay < 500; ++replay) {
    const bool look = replay % 50 == 0;
    // 1 and 3 become 4, 4 (512 elements: 8, 8), 8 (or 16) on both.
    if (look) {
      pair.set(0, std::vector<std::uint16_t>(4096, to_bf16(1.0f)));
      pair.set(1, std::vector<std::uint16_t>(4096, to_bf16(3.0f)));
    }
    for (int rank = 0; rank < 2; ++rank) {
      REQUIRE(cudaSetDevice(rank) == cudaSuccess);
      REQUIRE(cudaGraphLaunch(ready[rank], pair.stream(rank)) == cudaSuccess);
    }
    if (!look) continue;
    std::vector<std::uint16_t> want(4096, to_bf16(8.0f));
    std::fill(want.begin(), want.begin() + 512, to_bf16(16.0f));
    CHECK(pair.get(0, 4096) == want);
    CHECK(pair.get(1, 4096) == want);
  }
  for (cudaGraphExec_t graph : ready) cudaGraphExecDestroy(graph);
}

TEST_CASE("a GPU whose peer stays away gives up, says so, and the peer leaves with it") {
  if (!Pair::available()) {
    WARN("skipped: no two GPUs that reach each other");
    return;
  }
  Pair pair;
  pair.set(0, std::vector<std::uint16_t>(512, to_bf16(1.0f)));
  REQUIRE(pair.launch(pair.job(0, 512, 20000)) == BK_KERNEL_OK);
  CHECK(std::isnan(from_bf16(pair.get(0, 512)[7])));
  CHECK(pair.report(0).phase == 3);
  CHECK(pair.report(0).sequence == 1);
  CHECK(pair.report(0).missing == 2);
  pair.set(1, std::vector<std::uint16_t>(512, to_bf16(1.0f)));
  for (int call = 0; call < 3; ++call) REQUIRE(pair.launch(pair.job(1, 512)) == BK_KERNEL_OK);
  CHECK(std::isnan(from_bf16(pair.get(1, 512)[7])));
  CHECK(pair.report(1).phase == 2);
}

TEST_CASE("oneshot_ar refuses what it cannot do") {
  int word = 0;
  BkOneshotReport report{};
  const auto refuses = [&](auto change, int status) {
    BkOneshotAr job{&word, &word, {&word, &word}, &word, &report, 4096, 0, 2, 10, 10};
    change(job);
    CHECK(bk_oneshot_ar(&job, nullptr) == status);
  };
  refuses([](BkOneshotAr& j) { j.elements = 0; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkOneshotAr& j) { j.elements = 131074; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkOneshotAr& j) { j.elements = 7; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkOneshotAr& j) { j.world = 9; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkOneshotAr& j) { j.rank = 2; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkOneshotAr& j) { j.abort_spins = 9; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkOneshotAr& j) { j.regions[1] = nullptr; }, BK_KERNEL_BAD_ARGUMENT);
  refuses([](BkOneshotAr& j) { j.in = static_cast<const char*>(j.in) + 2; }, BK_KERNEL_BAD_ALIGNMENT);
}

}  // namespace
}  // namespace bk::kernels
