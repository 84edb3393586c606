#pragma once
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "base/clock.h"

namespace bk::report {

/// How progress is shown.
struct ProgressStyle {
  bool live = false;  ///< one line rewritten in place; false: a line for each step
  bool color = false;
  std::size_t width = 0;  ///< columns that a live line may take, so that it never wraps; 0: no limit
  /// For a stream on file descriptor `fd`: live on a terminal (unless TERM=dumb), colour unless NO_COLOR is set.
  static ProgressStyle detect(int fd);
};

/// Seconds left, by the pace so far: elapsed * (total - done) / done. Nothing before the first step is done.
[[nodiscard]] std::optional<double> seconds_left(double elapsed_s, int done, int total);

/// Tells people what runs: "boot 2/5 cand · decode C=1 · 3/6 · 12 s left". Writes to stderr or a stream of a test;
/// live lines are limited to 10 a second, plain ones to a line when the label changes and when a label is complete.
class Progress {
 public:
  Progress(std::ostream& out, ProgressStyle style, Clock& clock);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Text before every label: "boot 2/5 cand".
  void stage(const std::string& text);
  /// `done` of `total` steps of `label`.
  void update(const std::string& label, int done, int total);
  /// A line that stays: a warning or a result. The live line is redrawn under it.
  void say(const std::string& line);
  /// Ends the live line.
  void finish();

 private:
  void draw(const std::string& text);
  std::ostream& out_;
  ProgressStyle style_;
  Clock& clock_;
  std::string stage_, label_, drawn_;
  Nanos label_started_ = 0, last_draw_ = 0;
  int last_done_ = -1;
};

}  // namespace bk::report
