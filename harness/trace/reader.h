#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/groups.h"
#include "trace/repeats.h"
#include "trace/source.h"
#include "trace/window.h"

namespace bk::trace {

/// One complete event (ph "X") of a kind that is asked for. Views hold until the next call of Reader::next().
struct Event {
  Kind kind = Kind::kOther;
  std::string_view name;  ///< escapes undone
  std::string_view category;
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  std::string_view device;  ///< args.device, else pid; as written
  std::string_view stream;  ///< args.stream, else tid; as written
  std::string_view json;    ///< the event as it stands in the trace
  /// Events of one reader with the same form differ in their times and their json only; 0 when nothing is known.
  std::uint32_t form = 0;
};

/// What a reader met beside the events that it gave.
struct ReadCounts {
  std::uint64_t bytes = 0;           ///< of the decoded stream
  std::uint64_t events = 0;          ///< elements of traceEvents, empty objects left out
  std::uint64_t empty_objects = 0;   ///< `{}`, as some writers end with
  std::uint64_t incomplete_gpu = 0;  ///< kernels and copies that are not ph "X", or without ts or dur: left out
  std::uint64_t lost = 0;            ///< repair only: places where events could not be read and were left out
  std::string first_loss;            ///< where and why
};

struct ReadOptions {
  /// Leaves out what cannot be read and goes on at the next `{` that follows a comma and begins with a member named ph,
  /// name, cat, pid, tid, ts or args; a trace that ends early ends there. Damaged gzip data stays an error.
  bool repair = false;
  /// Gives events of every category (Kind::kOther too), complete or not; times that are absent are 0.
  bool all = false;
};

/// Where in a trace reading begins: at its start, or where one of its events does.
struct ReadFrom {
  std::uint64_t offset = 0;
  bool at_event = false;
  bool bare_array = false;  ///< the events are not within an object
};

/// Reads a Chrome/Kineto trace as a stream: {"traceEvents": [...], ...}, or a bare array whose closing bracket may be
/// missing. Strict: bytes that are no JSON, a cut file, wrong checksums are errors; a comma before a closing bracket of
/// the events and empty objects are let through. ts and dur are microseconds, whatever displayTimeUnit says, as a
/// number or as one in quotes, which Perfetto reads too. A dur that is negative or above eleven days, a ts after 2096,
/// and any other value of the two is an error; of a member that an event has twice, the last counts.
class Reader {
 public:
  explicit Reader(std::unique_ptr<ByteSource> source, ReadOptions options = {}, ReadFrom from = {});

  /// Reads on in the bytes of `part` alone, which is a trace's part from `from` on; they change places with those of
  /// the part before. next() gives false at its end, where ended_before_event() says whether another part may follow;
  /// after an error the reader can begin another part. Counts are those of this part.
  void begin_part(Block& part, ReadFrom from);
  /// The bytes of the part, also when not all were read; the reader is without any then.
  [[nodiscard]] Block give_part_back() { return window_.release(); }
  /// Whether the part was read whole and another event begins where it ends.
  [[nodiscard]] bool ended_before_event() const { return part_ && state_ == State::kElement && !cursor_.more(); }
  /// Offset in the trace of the first byte that is not read.
  [[nodiscard]] std::uint64_t end() const { return window_.total(); }
  /// Whether the trace is an array without an object around it.
  [[nodiscard]] bool bare_array() const { return bare_array_; }

  /// The next event of interest into `event`; false at the end of the trace. kParse with "byte N" (of the decoded
  /// stream) as where; the source's errors. After an error the reader is spent.
  Result<bool> next(Event& event);
  [[nodiscard]] const ReadCounts& counts() const { return counts_; }

 private:
  enum class State { kStart, kKey, kAfterMember, kElement, kAfterElement, kDone };
  enum class Took { kNothing, kEvent };
  /// After known events few bytes are indexed, since known ones follow; the more, the more of them are new.
  static constexpr std::size_t kLeastPiece = 1024, kMostPiece = 4096;

  void begin(ReadFrom from);
  Result<Took> take(Event& event);
  Result<Took> take_element(Event& event);
  Result<Took> take_event(const RawEvent& raw, Kind kind, std::string_view json, Event& event);
  [[nodiscard]] bool is_wanted(Kind kind) const { return options_.all || kind != Kind::kOther; }
  void pass_known(std::size_t at);
  Result<Took> take_known(const Repeats::Form& form, std::size_t at, Event& event);
  Result<Took> take_run(Event& event);
  Status leave_run(std::size_t at, State state);
  Status take_start();
  Status take_key();
  Status after_member();
  Status after_element();
  Status need_more(std::size_t keep_from);
  Status at_end();
  Status lose(std::size_t from, const Error& why);
  [[nodiscard]] Error broken(std::size_t at) const;
  [[nodiscard]] Error broken(const Walker& walker) const;

  Window window_;
  ReadOptions options_;
  Cursor cursor_;
  State state_ = State::kStart;
  bool bare_array_ = false, saw_events_ = false, isolated_ = false;
  bool part_ = false;  ///< a part of a trace is read, whose end is no end of the trace
  ReadCounts counts_;
  std::size_t piece_ = kLeastPiece;  ///< bytes to index next
  Repeats repeats_;
  bool in_run_ = false;  ///< of known events: the next byte to read is run_at_, wherever the cursor is
  std::size_t run_at_ = 0;
  std::string unescaped_;
};

}  // namespace bk::trace
