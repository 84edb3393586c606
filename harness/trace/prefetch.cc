#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trace/source.h"

namespace bk::trace {
namespace {

constexpr std::size_t kSlots = 8;
constexpr std::size_t kSlotBytes = std::size_t{256} * 1024;
/// Full slots at which the thread is woken to go on: waking it for each slot costs a reader 5 % of its time.
constexpr std::size_t kRefillAt = kSlots / 2;

struct Slot {
  Block block;
  Status filled;  ///< the block is empty at the end
};

class PrefetchedSource final : public ByteSource {
 public:
  explicit PrefetchedSource(std::unique_ptr<ByteSource> inner)
      : inner_(std::move(inner)), thread_([this] { fill_slots(); }) {}
  ~PrefetchedSource() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  PrefetchedSource(const PrefetchedSource&) = delete;
  PrefetchedSource& operator=(const PrefetchedSource&) = delete;

  Result<std::size_t> read(char* into, std::size_t size) override {
    Slot& slot = wait_for_slot();
    BK_TRY(slot.filled);
    const std::size_t n = std::min(size, slot.block.size);
    std::memcpy(into, slot.block.memory.data() + slot.block.begin, n);
    slot.block.begin += n;
    slot.block.size -= n;
    if (n > 0 && slot.block.size == 0) release();
    return n;
  }

  [[nodiscard]] bool has_blocks() const override { return true; }
  Status exchange(Block& block) override {
    Slot& slot = wait_for_slot();
    BK_TRY(slot.filled);
    if (slot.block.size == 0) {
      block.size = 0;
      return {};
    }
    std::swap(block, slot.block);
    release();
    return {};
  }

 private:
  Slot& wait_for_slot() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return filled_ > taken_; });
    return slots_[taken_ % kSlots];
  }

  void release() {
    std::size_t full = 0;
    {
      const std::lock_guard lock(mutex_);
      full = filled_ - ++taken_;
    }
    if (full <= kRefillAt) changed_.notify_all();
  }

  void fill_slots() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || filled_ < taken_ + kSlots; });
        if (stopping_) return;
      }
      Slot& slot = slots_[filled_ % kSlots];
      slot.filled = fill(slot.block);
      const bool last = !slot.filled || slot.block.size == 0;
      bool was_empty = false;
      {
        const std::lock_guard lock(mutex_);
        was_empty = filled_++ == taken_;
      }
      if (was_empty) changed_.notify_all();
      if (last) return;
    }
  }

  Status fill(Block& block) {
    constexpr std::size_t kMemory = Block::kRoomBefore + kSlotBytes + Block::kRoomAfter;
    if (block.memory.size() != kMemory) block.memory = std::vector<char>(kMemory);
    block.begin = Block::kRoomBefore;
    block.size = 0;
    while (block.size < kSlotBytes) {
      char* const into = block.memory.data() + block.begin + block.size;
      BK_ASSIGN(const std::size_t n, inner_->read(into, kSlotBytes - block.size));
      if (n == 0) break;
      block.size += n;
    }
    return {};
  }

  std::unique_ptr<ByteSource> inner_;
  std::array<Slot, kSlots> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0, taken_ = 0;  ///< slots ever filled and ever given back
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ByteSource> prefetched_source(std::unique_ptr<ByteSource> inner) {
  return std::make_unique<PrefetchedSource>(std::move(inner));
}

}  // namespace bk::trace
