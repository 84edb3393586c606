#pragma once
#include <functional>
#include <iosfwd>
#include <string>

#include "report/format.h"
#include "tool/session.h"

namespace bk::tool {

/// A measuring program once its flags are parsed: only what differs from one to the next.
struct Bench {
  std::string program;  ///< "bench-ctx"
  std::string leg;      ///< "context"
  Json plan;            ///< what is asked for: printed by --dry-run, stored with the leg
  /// Measures into the sink until it is done or `stopped` says true.
  std::function<Status(const Server& server, leg::Sink& sink, const std::function<bool()>& stopped)> measure;
  /// Prints what was kept, also when the run ended early.
  std::function<void(const KeepingSink& keep, const Server& server, report::Format format, std::ostream& out)> print;
  /// How the program ends; empty: outcome_of() the samples.
  std::function<Result<cli::ExitCode>(const KeepingSink& keep)> outcome;
};

/// Opens the output, answers --dry-run, reaches the server, records the leg, prints and gives the exit code. A run that
/// a signal ended keeps and prints what it has.
[[nodiscard]] Result<cli::ExitCode> run_bench(const Bench& bench, const cli::CommonFlags& common, cli::Streams& streams,
                                              const cli::Args& args);

/// The members that every measuring program's JSON begins with: output_head(), endpoint, model, plan, and the machine
/// around the leg with the reasons not to trust it.
[[nodiscard]] Json bench_head(const Bench& bench, const Server& server, const KeepingSink& keep);

/// The rows of records as a JSON array of objects: a second table inside a document.
[[nodiscard]] Json rows_json(const report::Records& records);

/// A sample's metric, or nothing.
[[nodiscard]] std::optional<double> metric_of(const load::Sample& sample, const std::string& name);
/// What people should know of a sample: its failure, why its metric is missing, a biased decode rate, the client's
/// marks.
[[nodiscard]] std::string note_of(const load::Sample& sample, const std::vector<std::string>& metrics);

/// "2K,32000" -> {2048, 32000}. kUsage naming `flag` for anything that is no whole number, with or without a K.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_token_list(const std::string& text, const std::string& flag);

}  // namespace bk::tool
