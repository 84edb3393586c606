#include "report/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <string_view>

#include "base/text.h"
#include "report/table.h"

namespace bk::report {
namespace {

constexpr Nanos kRedraw = 100 * kMillisecond;
constexpr const char* kClearLine = "\r\x1b[2K";

}  // namespace

ProgressStyle ProgressStyle::detect(int fd) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  ProgressStyle style;
  style.live = isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb";
  style.color = style.live && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (style.live && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) style.width = size.ws_col - 1U;
  return style;
}

std::optional<double> seconds_left(double elapsed_s, int done, int total) {
  if (done <= 0 || total < done) return std::nullopt;
  return elapsed_s * (total - done) / done;
}

Progress::Progress(std::ostream& out, ProgressStyle style, Clock& clock) : out_(out), style_(style), clock_(clock) {}

Progress::~Progress() { finish(); }

void Progress::stage(const std::string& text) {
  stage_ = text;
  label_.clear();
  last_done_ = -1;
  draw(stage_);
}

void Progress::update(const std::string& label, int done, int total) {
  const Nanos now = clock_.now();
  const bool fresh = label != label_;
  if (fresh) {
    label_ = label;
    label_started_ = now;
    last_done_ = -1;
  }
  if (done == last_done_) return;
  last_done_ = done;
  const bool complete = done >= total;
  if (style_.live ? (!fresh && !complete && now - last_draw_ < kRedraw) : (!fresh && !complete)) return;
  last_draw_ = now;
  std::string text = stage_.empty() ? label : stage_ + " · " + label;
  text += fmt::format(" · {}/{}", done, total);
  const double elapsed = to_s(now - label_started_);
  if (complete) {
    text += " · done in " + human_duration(elapsed);
  } else if (const auto left = seconds_left(elapsed, done, total)) {
    text += " · " + human_duration(*left) + " left";
  }
  draw(text);
}

void Progress::say(const std::string& line) {
  if (style_.live && !drawn_.empty()) out_ << kClearLine;
  out_ << line << '\n';
  if (style_.live && !drawn_.empty()) out_ << drawn_;
  out_.flush();
}

void Progress::finish() {
  if (style_.live && !drawn_.empty()) out_ << '\n';
  drawn_.clear();
  out_.flush();
}

void Progress::draw(const std::string& text) {
  if (!style_.live) {
    out_ << text << '\n';
    out_.flush();
    return;
  }
  const std::string shown = style_.width == 0 ? text : std::string(clip(text, style_.width));
  drawn_ = style_.color ? "\x1b[36m" + shown + "\x1b[0m" : shown;
  out_ << kClearLine << drawn_;
  out_.flush();
}

}  // namespace bk::report
