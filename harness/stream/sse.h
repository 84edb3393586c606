#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bk::stream {

/// One dispatched event, or one line that is no part of any event. Views live until the next call of next(), feed() or
/// finish().
struct SseEvent {
  enum class Kind {
    kEvent,      ///< a blank line ended an event with data
    kStrayLine,  ///< a line with none of the fields that the format knows (an unframed JSON body, `error: …`); whole,
                 ///< in data
  };
  Kind kind = Kind::kEvent;
  std::string_view data;           ///< the data lines, joined with LF
  std::string_view type;           ///< `event:`; empty means "message"
  std::string_view id;             ///< the last `id:` of the stream so far
  std::size_t readable_after = 0;  ///< bytes that may be read behind `data` (a JSON reader's padding)
};

/// Incremental parser of server-sent events (WHATWG HTML, "Server-sent events"). The events depend on the bytes alone,
/// never on where they are cut. LF, CRLF and CR end lines; a leading BOM and comments are dropped.
///
///     parser.feed(bytes);
///     while (const SseEvent* event = parser.next()) use(*event);
///
/// `bytes` must live until next() has given nullptr. An event that lies whole in them is a view into them; what is cut
/// is kept. Holds at most about twice `max_bytes` (an open line and the data before it) plus two short fields.
class SseParser {
 public:
  static constexpr std::size_t kDefaultMaxBytes = std::size_t{16} << 20;
  /// `max_bytes`: longest line and longest data of one event. Longer ones end the parser: see overflowed().
  explicit SseParser(std::size_t max_bytes = kDefaultMaxBytes) : max_bytes_(max_bytes) {}

  /// Offers bytes. The ones before must have been drained by next().
  void feed(std::string_view bytes);
  /// Says that no more bytes follow: an open line and an open event count as ended. Drain with next().
  void finish();
  /// The next event, or nullptr when more bytes are needed.
  [[nodiscard]] const SseEvent* next();

  /// True once a line or an event was longer than the limit; no event follows then.
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  /// True while a line or an event has begun and not ended.
  [[nodiscard]] bool inside_event() const { return has_data_ || !line_.empty(); }
  /// The last `retry:` in milliseconds.
  [[nodiscard]] std::optional<std::int64_t> retry_ms() const { return retry_ms_; }

 private:
  bool take_line(std::string_view& line);
  bool take_last_line(std::string_view& line);
  bool process(std::string_view line);
  bool dispatch();
  void add_data(std::string_view value);
  bool field(std::string_view line);
  void hold();
  void overflow();

  std::size_t max_bytes_;
  const char* cursor_ = nullptr;   ///< unread input
  const char* end_ = nullptr;      ///< end of the input
  const char* next_lf_ = nullptr;  ///< first LF at or behind cursor_, or end_
  std::string line_;               ///< a line whose end has not come
  std::string data_own_;           ///< data that is cut or of several lines
  std::string_view data_;          ///< data of one line, in the input or in data_own_
  std::string type_, id_;
  std::optional<std::int64_t> retry_ms_;
  SseEvent event_;
  bool has_data_ = false, data_owned_ = false, dispatched_ = false, line_used_ = false;
  bool first_line_ = true, skip_lf_ = false, ending_ = false, overflowed_ = false;
};

}  // namespace bk::stream
