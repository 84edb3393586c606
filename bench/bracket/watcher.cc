#include "watcher.h"

#include <unistd.h>

#include "report/number.h"
#include "stats/summary.h"

namespace bk::bracket_tool {

ProgressWatcher::ProgressWatcher(cli::Streams& streams, bool quiet, std::string metric, std::string cell)
    : quiet_(quiet),
      metric_(std::move(metric)),
      cell_(std::move(cell)),
      progress_(streams.err, report::ProgressStyle::detect(STDERR_FILENO), clock_) {}

void ProgressWatcher::stage(const std::string& text) {
  if (!quiet_) progress_.stage(text);
}

void ProgressWatcher::boot_done(const std::string& text) {
  if (!quiet_) {
    std::string line = fmt::format("{}: {} {}", text, metric_, report::number(stats::median(values_)));
    if (const auto acceptance = stats::summarize(acceptance_).mean) {
      line += fmt::format(" at acceptance {} %", report::fixed(100 * *acceptance, 1));
    }
    progress_.say(line + gates_);
  }
  values_.clear();
  acceptance_.clear();
  gates_.clear();
}

Status ProgressWatcher::sample(const load::Sample& sample) {
  if (sample.warmup || sample.cell != cell_) return {};
  const auto it = sample.metrics.find(metric_);
  if (it == sample.metrics.end() || !it->second.value) return {};
  values_.push_back(*it->second.value);
  if (sample.acceptance.value) acceptance_.emplace_back(sample.acceptance.value->raw);
  return {};
}

Status ProgressWatcher::gate(const leg::GateResult& gate) {
  gates_ += fmt::format(", {} {}/{}", gate.name, gate.passed, gate.asked);
  return {};
}

void ProgressWatcher::warn(const std::string& text) { progress_.say("warning: " + text); }

void ProgressWatcher::progress(const std::string& what, int done, int total) {
  if (!quiet_) progress_.update(what, done, total);
}

}  // namespace bk::bracket_tool
