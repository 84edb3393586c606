#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "trace/source.h"

namespace bk::trace {
namespace {

constexpr std::size_t kSlots = 8;
constexpr std::size_t kSlotBytes = std::size_t{256} * 1024;
/// Full slots at which the thread is woken to go on: waking it for each slot costs a reader 5 % of its time.
constexpr std::size_t kRefillAt = kSlots / 2;

struct Slot {
  std::vector<char> bytes = std::vector<char>(kSlotBytes);
  Result<std::size_t> filled = std::size_t{0};
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
    Slot& slot = slots_[taken_ % kSlots];
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return filled_ > taken_; });
    }
    if (!slot.filled || *slot.filled == 0) return slot.filled;
    const std::size_t n = std::min(size, *slot.filled - at_);
    std::memcpy(into, slot.bytes.data() + at_, n);
    at_ += n;
    if (at_ == *slot.filled) release();
    return n;
  }

 private:
  void release() {
    at_ = 0;
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
      slot.filled = fill(slot);
      const bool last = !slot.filled || *slot.filled == 0;
      bool was_empty = false;
      {
        const std::lock_guard lock(mutex_);
        was_empty = filled_++ == taken_;
      }
      if (was_empty) changed_.notify_all();
      if (last) return;
    }
  }

  Result<std::size_t> fill(Slot& slot) {
    std::size_t total = 0;
    while (total < slot.bytes.size()) {
      BK_ASSIGN(const std::size_t n, inner_->read(slot.bytes.data() + total, slot.bytes.size() - total));
      if (n == 0) break;
      total += n;
    }
    return total;
  }

  std::unique_ptr<ByteSource> inner_;
  std::array<Slot, kSlots> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0, taken_ = 0;  ///< slots ever filled and ever given back
  std::size_t at_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ByteSource> prefetched_source(std::unique_ptr<ByteSource> inner) {
  return std::make_unique<PrefetchedSource>(std::move(inner));
}

}  // namespace bk::trace
