#include <fmt/format.h>

#include <filesystem>

#include "cli/output.h"
#include "cli/priority.h"
#include "commands.h"
#include "html.h"
#include "slice.h"

namespace bk::census {
namespace {

struct TableOptions : Options {
  std::string after;
  std::int64_t depth = 3;
  std::int64_t top = 25;
  std::string html, perfetto;
};

void register_flags(cli::App& app, TableOptions& options) {
  app.description(
      "Counts the kernels of a trace by group and by name, per step. Steps are counted, not guessed: by the kernel or "
      "the annotation that happens once a step. Counts are exact; times are what the tracer recorded, good for "
      "comparing; ts and dur are us, as numbers or as numbers in quotes. Further commands: census composition, tail, "
      "gaps, ranks, nccl-fingerprint; each has --help. Exit "
      "code 3 when the trace is no JSON, cut or damaged, or has no GPU kernels.");
  options.add_to(app, Options::Takes::kOneTrace);
  options.add_diff_to(app);
  app.option("--top", options.top, "kernels shown; JSON has all of them").range(1, 1000);
  app.option("--after", options.after, "also: what follows kernels whose name this regular expression finds")
      .value("REGEX")
      .no_default();
  app.option("--depth", options.depth, "how many kernels after it, on the same stream").range(1, 100);
  app.option("--html", options.html, "also: a page with one step's timeline and the groups").value("FILE").no_default();
  app.option("--perfetto", options.perfetto, "also: the events of one step, for ui.perfetto.dev")
      .value("FILE")
      .no_default();
  app.example("census rank0.json.gz", "kernels and time per step");
  app.example("census rank0.json.gz --after topk --depth 2", "what runs after the router");
  app.example("census before.json.gz --diff after.json.gz", "what a change did to the counts");
}

Page::Section followers_section(const std::vector<trace::Follower>& rows, const TableOptions& options,
                                std::uint64_t steps) {
  Page::Section section{"followers", fmt::format("after /{}/, same stream", options.after), {}, 0};
  section.records.columns = {number_column("distance", "distance"), text_column("name", "kernel"),
                             number_column("count", "count"), number_column("count_per_step", "count/step"),
                             number_column("median_gap_us", "gap [us]")};
  for (const auto& row : rows) {
    const Json rate = steps > 0 ? Json(static_cast<double>(row.count) / static_cast<double>(steps)) : Json();
    section.records.rows.push_back(
        {row.distance, row.name, static_cast<std::int64_t>(row.count), rate, row.median_gap_us});
  }
  return section;
}

/// The step in the middle of the steady ones: what the page and the slice show.
Result<trace::Step> shown_step(const trace::Recording& recording, const trace::Census& census) {
  if (!census.anchor) {
    return fail(Errc::kInconclusive, "no step to show; say with --step what happens once a step", recording.source);
  }
  const auto steps = trace::cut_steps(recording, *census.anchor);
  if (steps.empty()) return fail(Errc::kInconclusive, "no whole step to show", recording.source);
  return steps[steps.size() / 2];
}

Status write_text(cli::Streams& streams, const std::string& path, const std::string& text) {
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, path));
  output.stream() << text;
  return output.close();
}

Status write_extras(cli::Streams& streams, const TableOptions& options, const trace::Recording& recording,
                    const trace::Rules& rules, const trace::Census& census, const Page& page) {
  if (options.html.empty() && options.perfetto.empty()) return {};
  BK_ASSIGN(const trace::Step step, shown_step(recording, census));
  if (!options.html.empty()) {
    BK_TRY(write_text(streams, options.html, html_page(recording, rules, census, step, page.notes)));
  }
  if (options.perfetto.empty()) return {};
  BK_ASSIGN(const std::string slice, slice_text(options.files.front(), options.read_options(), step));
  return write_text(streams, options.perfetto, slice);
}

Result<Page> page_of(cli::Streams& streams, const TableOptions& options) {
  BK_ASSIGN(const trace::Rules rules, options.rules());
  BK_ASSIGN(const auto step, options.step_rule());
  BK_ASSIGN(const trace::Recording recording, trace::record_file(options.files.front(), options.read_options()));
  const trace::Census census = trace::take_census(recording, rules, step);
  const auto top = static_cast<std::size_t>(options.top);
  Page page = census_page(recording, census, top);
  if (!options.after.empty()) {
    BK_ASSIGN(const auto rows, trace::followers(recording, options.after, static_cast<int>(options.depth)));
    page.sections.push_back(followers_section(rows, options, census.steps));
  }
  BK_TRY(write_extras(streams, options, recording, rules, census, page));
  if (!options.diff.empty()) {
    BK_ASSIGN(const trace::Recording other, trace::record_file(options.diff, options.read_options()));
    return census_diff(recording, census, other, trace::take_census(other, rules, step), top);
  }
  return page;
}

Status check(const TableOptions& options) {
  if (options.files.size() != 1) {
    return fail(Errc::kUsage, fmt::format("one trace, not {}; census ranks takes several", options.files.size()));
  }
  if (!options.diff.empty() && !options.after.empty()) {
    return fail(Errc::kUsage, "--after looks into one trace; leave out --diff");
  }
  const std::string& trace = options.files.front();
  std::error_code missing;  // which is for the reader to say
  const auto status = std::filesystem::status(trace, missing);
  const bool once = trace == "-" || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
  if (!options.perfetto.empty() && once) {
    return fail(Errc::kUsage, "--perfetto reads the trace twice, so it has to be a file", trace);
  }
  return {};
}

}  // namespace

Result<cli::ExitCode> run_table(cli::Streams& streams, const cli::Args& args) {
  TableOptions options;
  cli::App app("census", "Counts the GPU kernels of a trace, per step");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_TRY(check(options));
  if (options.nice) BK_TRY(cli::lower_priority());
  BK_ASSIGN(const Page page, page_of(streams, options));
  BK_TRY(write(streams, options, page));
  return cli::ExitCode::kDone;
}

}  // namespace bk::census
