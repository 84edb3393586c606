#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/number_formats.h"

namespace bk::kernels {

/// Device memory of a bench; empty where there is none left.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes) {
    if (cudaMalloc(&data_, bytes) != cudaSuccess) data_ = nullptr;
  }
  template <class T>
  explicit Block(const std::vector<T>& from) : Block(from.size() * sizeof(T)) {
    if (data_ != nullptr) cudaMemcpy(data_, from.data(), bytes_, cudaMemcpyHostToDevice);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { cudaFree(data_); }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  void fill(int byte) const { cudaMemset(data_, byte, bytes_); }
  template <class T>
  std::vector<T> read() const {
    std::vector<T> out(bytes_ / sizeof(T));
    cudaMemcpy(out.data(), data_, bytes_, cudaMemcpyDeviceToHost);
    return out;
  }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

/// The same numbers at several addresses, so that no call finds its weights in the L2 cache.
template <class T>
std::vector<std::unique_ptr<Block>> copies(const std::vector<T>& of, int count) {
  std::vector<std::unique_ptr<Block>> out;
  for (int i = 0; i < count; ++i) out.push_back(std::make_unique<Block>(of));
  return out;
}

inline std::vector<std::uint16_t> normal_bf16(std::size_t count, float spread) {
  std::mt19937 engine(std::random_device{}());
  std::normal_distribution<float> normal(0, spread);
  std::vector<std::uint16_t> out(count);
  for (std::uint16_t& value : out) value = to_bf16(normal(engine));
  return out;
}

inline std::vector<float> normal_fp32(std::size_t count, float spread) {
  std::vector<float> out;
  for (const std::uint16_t value : normal_bf16(count, spread)) out.push_back(from_bf16(value));
  return out;
}

/// |got - want| / |want| over what was added.
class RelativeError {
 public:
  void add(double got, double want) {
    off_ += (got - want) * (got - want);
    norm_ += want * want;
  }
  double value() const { return std::sqrt(off_ / norm_); }

 private:
  double off_ = 0, norm_ = 0;
};

/// Time of one call: every call once in a captured graph, which is replayed under events. `error` is of the first
/// call's result and has to be at most `limit`, else nothing is timed.
inline void time_in_graph(benchmark::State& state, const std::vector<std::function<int(void*)>>& calls,
                          const std::function<double()>& error, double limit) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const int status = calls.front()(stream);
  cudaStreamSynchronize(stream);
  const double off = status == 0 ? error() : 0;
  state.counters["error"] = off;
  if (status != 0 || !(off <= limit)) {
    state.SkipWithError(status != 0 ? "the entry refused" : "the result is wrong");
    cudaStreamDestroy(stream);
    return;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (const auto& call : calls) call(stream);
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess)
    state.SkipWithError("the calls cannot be captured");
  for (auto _ : state) {
    cudaEventRecord(begin, stream);
    cudaGraphLaunch(ready, stream);
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    state.SetIterationTime(static_cast<double>(ms) * 1e-3 / static_cast<double>(calls.size()));
  }
  if (cudaGetLastError() != cudaSuccess) state.SkipWithError("the CUDA runtime reports an error");
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
}

}  // namespace bk::kernels
