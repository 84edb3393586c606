#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
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

/// One thread inflates the trace and puts its parts into a queue, the others parse them; so does the first one while
/// the queue is full. Inflating stays with one thread, since its state is slow to move to another processor.
///
/// A part is read as if an event began with it, and what it gave is appended in the order of the parts once the part
/// before it has ended where an event begins; so nothing is taken on trust. The first part that does not end so, with
/// an error or with the events' end, and all after it are read again as one stream.
class PartwiseRecording {
 public:
  explicit PartwiseRecording(std::unique_ptr<ByteSource> source) : parts_(std::move(source)) {}

  Result<Recording> run(unsigned threads) {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { parse_parts(); });
    feed();
    for (std::thread& thread : others) thread.join();
    Reader reader(parts_.rest(std::move(left_)), {}, next_);
    BK_TRY(read_into(reader, recording_));
    add(counts_, reader.counts());
    counts_.bytes = reader.counts().bytes;
    recording_.counts = std::move(counts_);
    return std::move(recording_);
  }

 private:
  static constexpr std::size_t kQueued = 4;
  /// Parts for which a thread that sleeps is woken: waking it for each one costs the first thread 5 % of its time.
  static constexpr std::size_t kWorthWaking = 2;

  struct Part {
    std::uint64_t number = 0;
    ReadFrom from;
    Block block;
  };
  struct Parser {
    Reader reader{nullptr};
    RecordingPart into;
  };

  void feed() {
    Parser parser;
    std::unique_lock lock(mutex_);
    for (std::uint64_t number = 0; !failed_; ++number) {
      while (queue_.size() >= kQueued) parse_next(lock, parser);
      Part part = empty_part();
      lock.unlock();
      part.number = number;
      part.from = {parts_.offset(), number > 0, false};
      const bool is_one = parts_.next(part.block);
      lock.lock();
      if (!is_one) break;
      queue_.push_back(std::move(part));
      if (queue_.size() >= kWorthWaking) filled_.notify_one();
    }
    ended_ = true;
    filled_.notify_all();
    while (!queue_.empty()) parse_next(lock, parser);
  }

  void parse_parts() {
    Parser parser;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (queue_.empty()) filled_.wait(lock, [&] { return ended_ || queue_.size() >= kWorthWaking; });
      if (queue_.empty()) return;
      parse_next(lock, parser);
    }
  }

  Part empty_part() {
    if (empty_.empty()) return {};
    Part part = std::move(empty_.back());
    empty_.pop_back();
    return part;
  }

  void parse_next(std::unique_lock<std::mutex>& lock, Parser& parser) {
    Part part = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    parser.into.clear();
    parser.reader.begin_part(part.block, part.from);
    const bool whole = read_into(parser.reader, parser.into) && parser.reader.ended_before_event();
    lock.lock();
    turn_.wait(lock, [&] { return finished_ == part.number; });
    failed_ = failed_ || !whole;
    if (failed_) {
      left_.push_back(parser.reader.give_part_back());
    } else {
      append(part.number, parser);
    }
    ++finished_;
    empty_.push_back(std::move(part));
    turn_.notify_all();
  }

  void append(std::uint64_t number, Parser& parser) {
    recording_.append(parser.into);
    add(counts_, parser.reader.counts());
    if (number == 0) next_ = {0, true, parser.reader.bare_array()};
    next_.offset = parser.reader.end();
  }

  Parts parts_;  ///< the first thread's alone

  std::mutex mutex_;  ///< of all that follows
  std::condition_variable filled_, turn_;
  std::deque<Part> queue_;
  std::vector<Part> empty_;  ///< whose memory is used again
  std::uint64_t finished_ = 0;
  bool ended_ = false, failed_ = false;
  std::vector<Block> left_;  ///< parts that were not appended
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

Result<Recording> record_on(const std::string& path, const ReadOptions& options, unsigned threads) {
  BK_ASSIGN(auto source, open_source(path));
  BK_ASSIGN(Recording recording, record(std::move(source), path, options, threads));
  if (recording.count_of(Kind::kKernel) == 0) return fail(Errc::kUnavailable, "no GPU kernels in this trace", path);
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
