#pragma once

#include <cuda_runtime.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "common/number_formats.h"

namespace bk::kernels {

/// Device memory of one test, every byte 0xff (NaN in each format used here) until something is written.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    REQUIRE(cudaMalloc(&data_, count * sizeof(T)) == cudaSuccess);
    poison();
  }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    REQUIRE(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* get() const { return static_cast<T*>(data_); }
  /// Done when it returns: a stream that does not wait for the default one may be next.
  void poison() {
    REQUIRE(cudaMemset(data_, 0xff, count_ * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
  std::vector<T> read() const {
    std::vector<T> out(count_);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(cudaMemcpy(out.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return out;
  }

 private:
  std::size_t count_;
  void* data_ = nullptr;
};

/// Fresh numbers in every run; the seed is printed with a failure.
class Draw {
 public:
  Draw() : seed_(std::random_device{}()), engine_(seed_) {}
  unsigned seed() const { return seed_; }
  std::vector<std::uint16_t> bf16(std::size_t count, float spread) {
    std::normal_distribution<float> normal(0, spread);
    std::vector<std::uint16_t> out(count);
    for (std::uint16_t& value : out) value = to_bf16(normal(engine_));
    return out;
  }
  std::vector<float> floats(std::size_t count, float spread) {
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> out(count);
    for (float& value : out) value = normal(engine_);
    return out;
  }
  std::mt19937& engine() { return engine_; }

 private:
  unsigned seed_;
  std::mt19937 engine_;
};

/// Captures what `launch(stream)` does into a graph of `steps` nodes and replays it three times; `check` runs after
/// each replay. A call that allocates or synchronises cannot be captured and fails here.
template <class Launch, class Check>
void replay_captured(Launch launch, Check check, std::size_t steps = 1) {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  const int status = launch(static_cast<void*>(stream));
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(status == 0);
  std::size_t nodes = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == steps);
  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(cudaGraphLaunch(ready, stream) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    check();
  }
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

}  // namespace bk::kernels
