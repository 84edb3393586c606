#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "oneshot_ar/protocol.h"

namespace bk::kernels {

/// A rank's region in host memory.
class HostRegion {
 public:
  explicit HostRegion(int world) : words_(word_index(kOneshotSlots - 1, world - 1, world, kOneshotUnits)) {}
  std::atomic<std::uint64_t>& operator[](std::uint64_t at) { return words_[at]; }

 private:
  std::vector<std::atomic<std::uint64_t>> words_;
};

/// What a rank of a process with one thread a lane needs to reach the others. The report keeps the gravest.
class HostTransport {
 public:
  HostTransport(std::vector<HostRegion*> regions, int rank) : regions_(std::move(regions)), rank_(rank) {}

  std::uint64_t look(std::uint64_t at) { return (*regions_[rank_])[at].load(std::memory_order_relaxed); }
  void send(int peer, std::uint64_t at, std::uint64_t word) {
    (*regions_[peer])[at].store(word, std::memory_order_relaxed);
  }
  bool peer_gave_up() { return look(0) != 0; }
  void give_up(std::uint32_t call) {
    for (HostRegion* region : regions_) (*region)[0].store(call, std::memory_order_relaxed);
  }
  void report(Waited what, std::uint32_t call, int peer) {
    missing_.fetch_or(1u << peer, std::memory_order_relaxed);
    call_.store(call, std::memory_order_relaxed);
    std::uint32_t seen = phase_.load(std::memory_order_relaxed);
    while (seen < static_cast<std::uint32_t>(what) &&
           !phase_.compare_exchange_weak(seen, static_cast<std::uint32_t>(what), std::memory_order_relaxed)) {
    }
  }
  void rest() { std::this_thread::yield(); }
  BkOneshotReport reported() const { return {phase_.load(), call_.load(), missing_.load()}; }

 private:
  std::vector<HostRegion*> regions_;
  int rank_;
  std::atomic<std::uint32_t> phase_{0}, call_{0}, missing_{0};
};

}  // namespace bk::kernels
