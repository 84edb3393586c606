#include <fmt/format.h>

#include "base/file.h"
#include "cli/priority.h"
#include "commands.h"
#include "report/number.h"
#include "trace/gaps.h"
#include "trace/nccl_log.h"
#include "trace/ranks.h"

namespace bk::census {
namespace {

Json whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

Page gaps_page(const trace::Recording& recording, const trace::Gaps& gaps) {
  Page page;
  describe_input(page, recording);
  page.facts.push_back({"main_stream", "main stream", gaps.main_stream, gaps.main_stream});
  page.facts.push_back({"gaps", "gaps over 0.05 us", whole(gaps.count),
                        fmt::format("{}, {} us in all", gaps.count, report::number(gaps.sum_us))});
  page.facts.push_back({"gaps_us", "", gaps.sum_us, ""});
  Page::Section pairs{"pairs", "gaps by neighbours", {}, 0};
  pairs.records.columns = {text_column("previous", "after"), text_column("next", "before"),
                           number_column("gaps", "gaps"), number_column("us", "us", 6)};
  for (const auto& row : gaps.pairs) {
    pairs.records.rows.push_back({row.previous, row.next, whole(row.count), row.sum_us});
  }
  Page::Section kernels{"kernels", "kernels by time", {}, 0};
  kernels.records.columns = {text_column("name", "kernel"),
                             number_column("kernels", "n"),
                             number_column("us", "us", 6),
                             number_column("median_us", "median"),
                             number_column("p99_us", "p99"),
                             number_column("max_us", "max"),
                             number_column("max_over_median", "max/median", 3)};
  for (const auto& row : gaps.kernels) {
    kernels.records.rows.push_back({row.name, whole(row.count), row.sum_us, row.median_us, row.p99_us, row.max_us,
                                    row.median_us > 0 ? Json(row.max_over_median) : Json()});
  }
  Page::Section largest{"largest", "largest gaps, and what ran elsewhere in them", {}, 0};
  largest.records.columns = {number_column("us", "us"),       text_column("previous", "after"),
                             text_column("next", "before"),   number_column("filled_pct", "filled %", 3),
                             text_column("others", "others"), number_column("begin_us", "at [us]")};
  for (const auto& row : gaps.largest) {
    largest.records.rows.push_back(
        {row.us, row.previous, row.next, row.filled_pct, joined(row.others), static_cast<double>(row.begin_ns) / 1e3});
  }
  page.sections = {std::move(pairs), std::move(kernels), std::move(largest)};
  return page;
}

Page ranks_page(const std::vector<trace::Recording>& recordings, const trace::Ranks& ranks) {
  Page page;
  for (const trace::Recording& recording : recordings) {
    add_notes(page, recording.source, reading_notes(recording));
  }
  page.facts.push_back({"collectives_compared", "collectives compared", whole(ranks.compared),
                        ranks.compared > 0 ? std::to_string(ranks.compared) : "none: " + ranks.reason});
  page.facts.push_back({"straggler", "straggler", ranks.straggler ? Json(*ranks.straggler) : Json(),
                        ranks.straggler
                            ? fmt::format("rank {} ({})", *ranks.straggler, ranks.ranks[*ranks.straggler].source)
                            : (ranks.compared > 0 ? "none: " + ranks.reason : "unknown")});
  page.facts.push_back({"straggler_reason", "", ranks.straggler ? Json() : Json(ranks.reason), ""});
  Page::Section table{"ranks", "by rank", {}, 0};
  table.records.columns = {number_column("rank", "rank"),
                           text_column("trace", "trace"),
                           number_column("kernels", "kernels"),
                           number_column("kernels_us", "us", 6),
                           number_column("collectives", "collectives"),
                           number_column("collectives_us", "us in them", 6),
                           number_column("last_to", "came last"),
                           number_column("waited_us", "waited us")};
  for (std::size_t r = 0; r < ranks.ranks.size(); ++r) {
    table.records.columns.push_back(number_column(fmt::format("waited_for_{}_us", r), fmt::format("for {}", r)));
  }
  for (std::size_t r = 0; r < ranks.ranks.size(); ++r) {
    const auto& rank = ranks.ranks[r];
    const bool known = ranks.compared > 0;
    std::vector<Json> row{r,
                          rank.source,
                          whole(rank.kernels),
                          rank.kernel_us,
                          whole(rank.collectives),
                          rank.collective_us,
                          known ? whole(rank.last) : Json(),
                          known ? Json(rank.waited_us) : Json()};
    for (const double wait : rank.waited_for_us) row.push_back(known ? Json(wait) : Json());
    table.records.rows.push_back(std::move(row));
  }
  page.sections.push_back(std::move(table));
  return page;
}

Page nccl_page(const std::string& source, const trace::NcclFingerprint& found) {
  Page page;
  page.facts = {{"log", "log", source, source},
                {"fingerprint", "fingerprint", found.digest, found.digest},
                {"lines", "lines kept", whole(found.lines), std::to_string(found.lines)},
                {"rings", "rings", whole(found.rings), std::to_string(found.rings)},
                {"trees", "trees", whole(found.trees), std::to_string(found.trees)},
                {"channels", "channels", whole(found.channels), std::to_string(found.channels)},
                {"network", "network", whole(found.network), std::to_string(found.network)}};
  for (const auto& [key, lines] :
       {std::pair("ring_lines", found.ring_lines), std::pair("network_lines", found.network_lines)}) {
    Page::Section section{key, key, {}, 0};
    section.records.columns = {text_column("line", "line")};
    for (const std::string& line : lines) section.records.rows.push_back({Json(line)});
    page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace

Result<cli::ExitCode> run_gaps(cli::Streams& streams, const cli::Args& args) {
  Options options;
  std::int64_t largest = 3;
  cli::App app("census gaps", "Says where the main stream waits, and what ran elsewhere meanwhile");
  app.description(
      "The main stream is the one with the largest summed duration. A gap that is filled above 100 % held kernels that "
      "overlap each other: it is overlap, not idleness.");
  options.add_to(app, Options::Takes::kOneTrace);
  app.option("--largest", largest, "how many of the largest gaps to look into").range(0, 1000);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  if (options.files.size() != 1) return fail(Errc::kUsage, fmt::format("one trace, not {}", options.files.size()));
  if (options.nice) BK_TRY(cli::lower_priority());
  BK_ASSIGN(const trace::Recording recording, trace::record_file(options.files.front(), options.read_options()));
  BK_TRY(write(streams, options, gaps_page(recording, trace::find_gaps(recording, static_cast<std::size_t>(largest)))));
  return cli::ExitCode::kDone;
}

Result<cli::ExitCode> run_ranks(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("census ranks", "Says which rank the others wait for, from one trace a rank");
  app.description(
      "Collectives are matched by their order. The rank that is in one for the shortest time came last to it; the "
      "others waited for it by as much as they were in it for longer. The ranks' clocks need not agree. Exit code 4 "
      "when the ranks' collectives do not match, or nobody waited.");
  options.add_to(app, Options::Takes::kTraces);
  std::int64_t skip = 1;
  app.option("--skip", skip, "first collectives to leave out, in which ranks wait for captures to begin").at_least(0);
  app.example("census ranks rank*.json.gz", "rank 0 is the first file");
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_ASSIGN(const trace::Rules rules, options.rules());
  if (options.nice) BK_TRY(cli::lower_priority());
  std::vector<trace::Recording> recordings;
  for (auto& read : trace::record_files(options.files, options.read_options())) {
    BK_ASSIGN(trace::Recording recording, std::move(read));
    recordings.push_back(std::move(recording));
  }
  const trace::Ranks ranks = trace::compare_ranks(recordings, rules, static_cast<std::size_t>(skip));
  BK_TRY(write(streams, options, ranks_page(recordings, ranks)));
  return ranks.straggler ? cli::ExitCode::kDone : cli::ExitCode::kInconclusive;
}

Result<cli::ExitCode> run_nccl(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("census nccl-fingerprint", "Says in sixteen digits what NCCL chose, from a boot log");
  app.description(
      "Equal digits mean the same rings, trees, channels and network; process ids, ports and addresses are masked. The "
      "log needs NCCL_DEBUG=INFO. Exit code 3 when it has no such line.");
  options.add_to(app, Options::Takes::kOneLog);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  if (options.files.size() != 1) return fail(Errc::kUsage, fmt::format("one log, not {}", options.files.size()));
  if (options.nice) BK_TRY(cli::lower_priority());
  BK_ASSIGN(const std::string log, read_file(options.files.front()));
  const auto found = trace::nccl_fingerprint(log);
  if (found.lines == 0) {
    return fail(Errc::kUnavailable, "no NCCL INFO line about rings or networks; boot with NCCL_DEBUG=INFO",
                options.files.front());
  }
  BK_TRY(write(streams, options, nccl_page(options.files.front(), found)));
  return cli::ExitCode::kDone;
}

}  // namespace bk::census
