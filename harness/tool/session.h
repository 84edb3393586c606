#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/common_flags.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "engine/models.h"
#include "leg/machine_state.h"
#include "leg/sink.h"
#include "report/progress.h"
#include "store/store.h"

/// What every measuring program does around its leg: reach the server, store what is measured, say how it went.
namespace bk::tool {

/// A server that answered: the transport to it, and the endpoint with its model resolved.
struct Server {
  std::unique_ptr<http::Transport> transport;
  engine::Endpoint endpoint;
  engine::ServedModel model;
};
/// kUsage for a model that is not served; kConnect and the like when there is no server. `stopped` is polled while a
/// single answer is waited for, then and later; empty: never.
[[nodiscard]] Result<Server> reach(const cli::Connection& connection, const std::function<bool()>& stopped = {});

/// A sink that keeps everything in memory and shows progress and warnings on a stream.
class KeepingSink final : public leg::Sink {
 public:
  KeepingSink(cli::Streams& streams, bool quiet);
  Status sample(const load::Sample& sample) override;
  Status gate(const leg::GateResult& gate) override;
  void warn(const std::string& text) override;
  void progress(const std::string& what, int done, int total) override;
  void finish() { progress_.finish(); }

  std::vector<load::Sample> samples;
  std::vector<leg::GateResult> gates;
  std::vector<std::string> warnings;
  leg::MachineState machine_before, machine_after;  ///< around the leg, while nothing was asked of the server
  std::vector<std::string> machine_marks;           ///< why the leg is not to be trusted; empty: nothing seen
  /// Called for each sample that is not a warm-up, after it was stored.
  std::function<void(const load::Sample&)> on_sample;

 private:
  SystemClock clock_;
  bool quiet_;
  report::Progress progress_;
};

/// One hand-run leg, recorded: a run and a leg in results.db around `body`, which measures into the sink it is given.
/// The machine is looked at before and after; a foreign load or a throttled GPU is warned of and stands in the leg's
/// row.
struct Recorded {
  std::string program;  ///< "bench-dec"
  std::string leg;      ///< "decode"
  Json plan;            ///< what the leg was asked for
  std::string db;       ///< results.db, or where --db points
  std::uint64_t seed = 0;
  cli::Args args;  ///< command line; secrets are taken out
};
/// @param outcome  how the program ends once the body is done; the run's row keeps that exit code.
[[nodiscard]] Result<cli::ExitCode> record_leg(const Recorded& what, const Server& server, cli::Streams& streams,
                                               KeepingSink& keep, const std::function<Status(leg::Sink&)>& body,
                                               const std::function<Result<cli::ExitCode>(const KeepingSink&)>& outcome);

/// kDone when every measured request was ok, kFailed when some were not, and an error (exit 3) naming the first reason
/// when none was. Warm-ups do not count.
[[nodiscard]] Result<cli::ExitCode> outcome_of(const std::vector<load::Sample>& samples);
/// "2 of 40 requests failed; the first: HTTP 503"; empty when none did. Warm-ups do not count.
[[nodiscard]] std::string failures_text(const std::vector<load::Sample>& samples);

/// "name version (commit)" members that every JSON output begins with: schema_version, tool, tool_version, commit.
[[nodiscard]] Json output_head(const std::string& program);

}  // namespace bk::tool
