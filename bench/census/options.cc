#include "options.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/priority.h"

namespace bk::census {

void Options::add_to(cli::App& app, Takes takes) {
  if (takes == Takes::kOneLog) {
    app.positional("LOG", files, "boot log of a rank").required();
  } else {
    const bool one = takes == Takes::kOneTrace;
    app.positional(one ? "TRACE" : "TRACES", files, "Chrome or Kineto trace, plain or gzip; - is standard input")
        .required();
    app.option("--groups", groups, "file with groups, own kernels and step rules").value("FILE").no_default();
    app.flag("--repair", repair, "leave out events that are no JSON, and count them, instead of giving up");
  }
  if (takes == Takes::kOneTrace) {
    app.option("--step", step, "what happens once a step: a part of a kernel's name, or gpu_annotation:PATTERN")
        .value("PATTERN")
        .no_default();
  }
  cli::add_nice_to(app, nice);
  common.add_to(app, {cli::Common::kOut});
  cli::add_format(app, common, {"table", "json", "md"});
}

void Options::add_steps_to(cli::App& app) {
  app.option("--skip", skip, "first steps to leave out; the last is left out too").at_least(0);
  app.option("--min-steps", min_steps, "fewer steps than this give no answer (exit 4)").at_least(1);
}

void Options::add_diff_to(cli::App& app) {
  app.option("--diff", diff, "second trace, compared with TRACE").value("TRACE2").no_default();
}

Result<trace::Rules> Options::rules() const {
  if (groups.empty()) return trace::parse_rules(trace::default_rules_text(), "built-in rules");
  BK_ASSIGN(const std::string text, read_file(groups));
  return trace::parse_rules(text, groups);
}

Result<std::optional<trace::StepRule>> Options::step_rule() const {
  if (step.empty()) return std::optional<trace::StepRule>{};
  BK_ASSIGN(trace::StepRule rule, trace::parse_step_rule(step));
  return std::optional<trace::StepRule>(std::move(rule));
}

Result<trace::StepOptions> Options::step_options() const {
  trace::StepOptions options;
  BK_ASSIGN(options.step, step_rule());
  options.skip = skip;
  options.min_steps = min_steps;
  return options;
}

void describe_input(Page& page, const trace::Recording& recording) {
  const auto& counts = recording.counts;
  page.facts.push_back({"trace", "trace", recording.source, recording.source});
  page.facts.push_back({"trace_bytes", "", static_cast<std::int64_t>(counts.bytes), ""});
  page.facts.push_back({"events", "", static_cast<std::int64_t>(counts.events), ""});
  page.facts.push_back({"events_lost", "", static_cast<std::int64_t>(counts.lost), ""});
  page.notes = reading_notes(recording);
}

std::vector<std::string> reading_notes(const trace::Recording& recording) {
  const auto& counts = recording.counts;
  std::vector<std::string> notes;
  if (counts.lost > 0) {
    notes.push_back(fmt::format("repaired: {} events read, {} places lost; the first: {}", counts.events, counts.lost,
                                counts.first_loss));
  }
  if (counts.incomplete_gpu > 0) {
    notes.push_back(
        fmt::format("{} kernels or copies without a start or a duration are left out", counts.incomplete_gpu));
  }
  return notes;
}

void add_notes(Page& page, const std::string& label, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) page.notes.push_back(label + ": " + note);
}

Status write(cli::Streams& streams, const Options& options, const Page& page) {
  BK_ASSIGN(const report::Format format, report::parse_format(options.common.format));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  output.stream() << render(page, format);
  return output.close();
}

}  // namespace bk::census
