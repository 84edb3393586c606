#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "trace/parts.h"
#include "trace/recording.h"

namespace bk::trace {
namespace {

/// Reads on to where the reader ends.
template <class Into>
Status read_into(Reader& reader, Into& into) {
  for (Event event;;) {
    BK_ASSIGN(const bool more, reader.next(event));
    if (!more) return {};
    into.append(event);
  }
}

void add(ReadCounts& sum, const ReadCounts& more) {
  sum.events += more.events;
  sum.empty_objects += more.empty_objects;
  sum.incomplete_gpu += more.incomplete_gpu;
}

/// Moves this thread off a processor when it may run on others: a new thread often starts beside the one that made it,
/// and two that yield to each other there look too little like load for the scheduler to part them soon.
void leave_processor(int processor) {
  cpu_set_t allowed;
  if (processor < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  // Refused when there are no others.
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

/// Threads take the parts of a trace in turn, and whoever takes one also inflates it: bytes that one processor writes
/// and another one reads cost both of them more than the state of the inflater does, which moves once a part.
///
/// A part is read as if an event began with it, and what it gave is appended in the order of the parts once the part
/// before it has ended where an event begins; so nothing is taken on trust. The first part that does not end so, with
/// an error or with the events' end, and all after it are read again as one stream.
class PartwiseRecording {
 public:
  explicit PartwiseRecording(std::unique_ptr<ByteSource> source) : parts_(std::move(source)) {}

  Result<Recording> run(unsigned threads) {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) {
      others.emplace_back([this, creator = sched_getcpu()] {
        leave_processor(creator);
        work();
      });
      // One that was put on this processor waits there for milliseconds before it can leave.
      std::this_thread::yield();
    }
    work();
    for (std::thread& thread : others) thread.join();
    Reader reader(parts_.rest(std::move(left_)), {}, next_);
    BK_TRY(read_into(reader, recording_));
    add(counts_, reader.counts());
    counts_.bytes = reader.counts().bytes;
    recording_.counts = std::move(counts_);
    return std::move(recording_);
  }

 private:
  /// A turn mostly comes sooner than a thread that sleeps is awake.
  static constexpr int kPolls = 4000;

  struct Part {
    std::uint64_t number = 0;
    ReadFrom from;
    Block block;
  };

  void work() {
    Reader reader(nullptr);
    RecordingPart into;
    for (Part part; take(part);) {
      into.clear();
      reader.begin_part(part.block, part.from);
      const bool whole = read_into(reader, into) && reader.ended_before_event();
      const std::uint64_t number = part.number;
      for (int i = 0; i < kPolls && appended_ != number; ++i) std::this_thread::yield();
      std::unique_lock lock(appending_);
      turn_.wait(lock, [&] { return appended_ == number; });
      if (!whole) failed_ = true;
      if (failed_) {
        left_.push_back(reader.give_part_back());
      } else {
        append(number, reader, into);
      }
      ++appended_;
      lock.unlock();
      turn_.notify_all();
      if (failed_) return;
    }
  }

  bool take(Part& part) {
    std::unique_lock lock(taking_, std::defer_lock);
    for (int i = 0; i < kPolls && !lock.try_lock(); ++i) std::this_thread::yield();
    if (!lock.owns_lock()) lock.lock();
    if (ended_ || failed_) return false;
    part.number = taken_;
    part.from = {parts_.offset(), taken_ > 0, false};
    ended_ = !parts_.next(part.block);
    taken_ += ended_ ? 0 : 1;
    return !ended_;
  }

  void append(std::uint64_t number, Reader& reader, RecordingPart& into) {
    recording_.append(into);
    add(counts_, reader.counts());
    if (number == 0) next_ = {0, true, reader.bare_array()};
    next_.offset = reader.end();
  }

  std::mutex taking_;
  Parts parts_;
  std::uint64_t taken_ = 0;
  bool ended_ = false;

  std::atomic<bool> failed_{false};
  std::mutex appending_;
  std::condition_variable turn_;
  std::atomic<std::uint64_t> appended_{0};  ///< or left
  std::vector<Block> left_;                 ///< parts that were not appended, in their order
  Recording recording_;
  ReadCounts counts_;
  ReadFrom next_;  ///< what comes after the parts that were appended
};

Result<Recording> record_in_order(std::unique_ptr<ByteSource> source, const ReadOptions& options) {
  Reader reader(std::move(source), options);
  Recording recording;
  BK_TRY(read_into(reader, recording));
  recording.counts = reader.counts();
  return recording;
}

/// Where the kernels of a trace without any may be.
std::string left_out(const ReadCounts& counts) {
  if (counts.lost > 0) return fmt::format("; {} places were lost, the first: {}", counts.lost, counts.first_loss);
  if (counts.incomplete_gpu == 0) return "";
  return fmt::format("; {} kernels or copies have no start or no duration", counts.incomplete_gpu);
}

Result<Recording> record_on(const std::string& path, const ReadOptions& options, unsigned threads) {
  BK_ASSIGN(auto source, open_source(path));
  BK_ASSIGN(Recording recording, record(std::move(source), path, options, threads));
  if (recording.count_of(Kind::kKernel) == 0) {
    return fail(Errc::kUnavailable, "no GPU kernels in this trace" + left_out(recording.counts), path);
  }
  return recording;
}

unsigned processors() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Inflating, which one thread does at a time, is about half of the work.
constexpr unsigned kMostThreads = 4;

}  // namespace

Result<Recording> record(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options,
                         unsigned threads) {
  const bool partwise = threads > 1 && !options.repair && source->never_waits();
  auto recording =
      partwise ? PartwiseRecording(std::move(source)).run(threads) : record_in_order(std::move(source), options);
  if (!recording) {
    const Error& error = recording.error();
    return fail(error.code, error.what, error.where.empty() ? name : name + ", " + error.where);
  }
  recording->source = name;
  return recording;
}

Result<Recording> record_file(const std::string& path, const ReadOptions& options) {
  return record_on(path, options, std::min(processors(), kMostThreads));
}

std::vector<Result<Recording>> record_files(const std::vector<std::string>& paths, const ReadOptions& options) {
  std::vector<std::optional<Result<Recording>>> slots(paths.size());
  std::atomic<std::size_t> next{0};
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(processors(), paths.size()));
  const unsigned for_each = threads == 0 ? 1 : std::min(processors() / threads, kMostThreads);
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) slots[i].emplace(record_on(paths[i], options, for_each));
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  std::vector<Result<Recording>> results;
  results.reserve(slots.size());
  for (auto& slot : slots) results.push_back(std::move(*slot));
  return results;
}

}  // namespace bk::trace
