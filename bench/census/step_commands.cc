#include <fmt/format.h>

#include <map>

#include "cli/priority.h"
#include "commands.h"
#include "report/number.h"

namespace bk::census {
namespace {

using trace::Composition;
using trace::GroupMedian;

Page::Fact figure(const std::string& key, const std::string& label, double value, const std::string& unit) {
  return {key, label, value, fmt::format("{} {}", report::number(value, 4), unit)};
}

Page::Section medians_section(const std::string& key, const std::string& title, const std::vector<GroupMedian>& rows) {
  const bool groups = key == "groups";
  Page::Section section{key, title, {}, 0};
  section.records.columns = {text_column(groups ? "group" : "name", groups ? "group" : "kernel"),
                             number_column("us_per_step", "us/step"),
                             number_column("kernels_per_step", "kernels/step")};
  for (const GroupMedian& row : rows) section.records.rows.push_back({row.group, row.us, row.count});
  return section;
}

void add_step_facts(Page& page, const std::string& anchor, std::size_t steps) {
  page.facts.push_back({"steps", "steps", static_cast<std::int64_t>(steps), fmt::format("{}, one {}", steps, anchor)});
  page.facts.push_back({"step_anchor", "", anchor, ""});
}

Page composition_page(const trace::Recording& recording, const Composition& composition) {
  Page page;
  describe_input(page, recording);
  add_step_facts(page, composition.anchor, composition.steps);
  page.facts.push_back(figure("span_us", "span, median", composition.span_us, "us"));
  page.facts.push_back(figure("idle_us", "idle (span less the union over streams)", composition.idle_us, "us"));
  page.facts.push_back(figure("overlap_us", "overlap (sum less union)", composition.overlap_us, "us"));
  Json allreduce;
  if (composition.allreduce) {
    const auto& a = *composition.allreduce;
    allreduce.set("count", static_cast<std::int64_t>(a.count)).set("p10_us", a.p10_us).set("p50_us", a.p50_us);
    allreduce.set("p90_us", a.p90_us).set("max_us", a.max_us);
    page.facts.push_back({"allreduce", "all-reduce", allreduce,
                          fmt::format("{} calls, p10 {} p50 {} p90 {} max {} us", a.count, report::number(a.p10_us),
                                      report::number(a.p50_us), report::number(a.p90_us), report::number(a.max_us))});
  } else {
    page.facts.push_back({"allreduce", "", Json(), ""});
    page.facts.push_back({"allreduce_reason", "", "no kernel matches the allreduce rules", ""});
  }
  page.sections.push_back(medians_section("groups", "by group, medians", composition.groups));
  return page;
}

Json count_of(const std::map<std::string, GroupMedian>& rows, const std::string& group) {
  const auto found = rows.find(group);
  return found == rows.end() ? 0.0 : found->second.count;
}
double us_of(const std::map<std::string, GroupMedian>& rows, const std::string& group) {
  const auto found = rows.find(group);
  return found == rows.end() ? 0.0 : found->second.us;
}

std::map<std::string, GroupMedian> by_group(const Composition& composition) {
  std::map<std::string, GroupMedian> rows;
  rows["(span)"] = {"(span)", composition.span_us, 0};
  rows["(idle)"] = {"(idle)", composition.idle_us, 0};
  rows["(overlap)"] = {"(overlap)", composition.overlap_us, 0};
  for (const GroupMedian& row : composition.groups) rows[row.group] = row;
  return rows;
}

Page composition_diff(const trace::Recording& a, const Composition& before, const trace::Recording& b,
                      const Composition& after) {
  Page page;
  page.facts.push_back({"trace_a", "a", a.source, fmt::format("{}, {} steps", a.source, before.steps)});
  page.facts.push_back({"trace_b", "b", b.source, fmt::format("{}, {} steps", b.source, after.steps)});
  add_notes(page, "a", reading_notes(a));
  add_notes(page, "b", reading_notes(b));
  const auto left = by_group(before), right = by_group(after);
  std::map<std::string, GroupMedian> all = left;
  all.insert(right.begin(), right.end());
  Page::Section section{"groups", "by group, medians", {}, 0};
  section.records.columns = {text_column("group", "group"),         number_column("us_a", "a us"),
                             number_column("us_b", "b us"),         number_column("us_change", "change"),
                             number_column("count_a", "a kernels"), number_column("count_b", "b kernels"),
                             text_column("count_changed", "count")};
  for (const auto& entry : all) {
    const std::string& group = entry.first;
    const Json count_a = count_of(left, group), count_b = count_of(right, group);
    const bool changed = count_a.as_double() != count_b.as_double();
    section.records.rows.push_back({group, us_of(left, group), us_of(right, group),
                                    us_of(right, group) - us_of(left, group), count_a, count_b,
                                    changed ? "changed" : ""});
  }
  page.sections.push_back(std::move(section));
  return page;
}

Page tail_page(const trace::Recording& recording, const trace::Tail& tail) {
  Page page;
  describe_input(page, recording);
  add_step_facts(page, tail.anchor, tail.steps);
  page.facts.push_back(figure("forward_us", "forward, median", tail.forward_us, "us"));
  page.facts.push_back(figure("tail_us", "tail (head, sampler, drafter), median", tail.tail_us, "us"));
  page.facts.push_back(figure("tail_busy_pct", "tail busy", tail.tail_busy_pct, "%"));
  page.sections.push_back(medians_section("groups", "tail by group, medians", tail.groups));
  page.sections.push_back(medians_section("kernels", "tail by kernel, medians", tail.kernels));
  page.sections.back().shown = 25;
  return page;
}

Result<trace::Recording> read_one(const Options& options) {
  if (options.files.size() != 1) return fail(Errc::kUsage, fmt::format("one trace, not {}", options.files.size()));
  if (options.nice) BK_TRY(cli::lower_priority());
  return trace::record_file(options.files.front(), options.read_options());
}

}  // namespace

Result<cli::ExitCode> run_composition(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("census composition", "Says what one step of a trace consists of, as medians over steps");
  app.description(
      "A step runs from one once-per-step kernel to the next, or over an annotation. Idle is its span less the union "
      "over all streams of what ran in it; overlap is summed durations less their union.");
  options.add_to(app, Options::Takes::kOneTrace);
  options.add_steps_to(app);
  options.add_diff_to(app);
  app.example("census composition a.json.gz --diff b.json.gz", "both side by side; changed counts are marked");
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_ASSIGN(const trace::Rules rules, options.rules());
  BK_ASSIGN(const trace::StepOptions steps, options.step_options());
  BK_ASSIGN(const trace::Recording recording, read_one(options));
  BK_ASSIGN(const Composition composition, trace::compose(recording, rules, steps));
  if (options.diff.empty()) {
    BK_TRY(write(streams, options, composition_page(recording, composition)));
    return cli::ExitCode::kDone;
  }
  BK_ASSIGN(const trace::Recording other, trace::record_file(options.diff, options.read_options()));
  BK_ASSIGN(const Composition after, trace::compose(other, rules, steps));
  BK_TRY(write(streams, options, composition_diff(recording, composition, other, after)));
  return cli::ExitCode::kDone;
}

Result<cli::ExitCode> run_tail(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("census tail", "Cuts each step after its last expert kernel: the forward pass, and the rest");
  app.description("The group that ends a forward pass is the rule forward_end of the rules file; built in is moe.");
  options.add_to(app, Options::Takes::kOneTrace);
  options.add_steps_to(app);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_ASSIGN(const trace::Rules rules, options.rules());
  BK_ASSIGN(const trace::StepOptions steps, options.step_options());
  BK_ASSIGN(const trace::Recording recording, read_one(options));
  BK_ASSIGN(const trace::Tail tail, trace::split_tail(recording, rules, steps));
  BK_TRY(write(streams, options, tail_page(recording, tail)));
  return cli::ExitCode::kDone;
}

}  // namespace bk::census
