#pragma once
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/common_flags.h"
#include "page.h"
#include "trace/composition.h"
#include "trace/recording.h"

namespace bk::census {

/// Flags that every command shares, and what they stand for.
struct Options {
  std::vector<std::string> files;
  std::string groups;  ///< rules file; empty: the built-in rules
  std::string step;    ///< step rule; empty: those of the rules
  std::string diff;    ///< a second trace
  std::int64_t skip = 5, min_steps = 8;
  bool repair = false, nice = false;
  cli::CommonFlags common;

  enum class Takes { kOneTrace, kTraces, kOneLog };
  void add_to(cli::App& app, Takes takes);
  void add_steps_to(cli::App& app);  ///< --skip --min-steps
  void add_diff_to(cli::App& app);

  [[nodiscard]] Result<trace::Rules> rules() const;
  [[nodiscard]] Result<std::optional<trace::StepRule>> step_rule() const;
  [[nodiscard]] Result<trace::StepOptions> step_options() const;
  [[nodiscard]] trace::ReadOptions read_options() const { return {repair, false}; }
};

/// Trace, bytes, events and what was left out, as facts and notes.
void describe_input(Page& page, const trace::Recording& recording);

/// What was left out of a recording, a line each.
[[nodiscard]] std::vector<std::string> reading_notes(const trace::Recording& recording);
/// Notes on one of several traces.
void add_notes(Page& page, const std::string& label, const std::vector<std::string>& notes);

/// Writes the page to --out or standard output.
[[nodiscard]] Status write(cli::Streams& streams, const Options& options, const Page& page);

}  // namespace bk::census
