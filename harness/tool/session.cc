#include "tool/session.h"

#include <unistd.h>

#include <ostream>

#include "base/text.h"
#include "base/version.h"
#include "bracket/store_sink.h"
#include "engine/metrics_client.h"

namespace bk::tool {
namespace {

constexpr int kSchemaVersion = 1;

}  // namespace

Result<Server> reach(const cli::Connection& connection, const std::function<bool()>& stopped) {
  Server server;
  http::TransportOptions options;
  options.unix_socket = connection.unix_socket;
  options.ca_file = connection.ca_file;
  options.stopped = stopped;
  server.transport = http::make_curl_transport(options);
  server.endpoint.base_url = connection.base_url;
  server.endpoint.model = connection.model;
  server.endpoint.metrics_url = connection.metrics_url;
  server.endpoint.api_key = connection.api_key;
  server.endpoint.headers = connection.headers;
  if (!connection.extra_body.empty()) {
    BK_ASSIGN(server.endpoint.extra_body, parse_json(connection.extra_body));
    const auto replies = server.endpoint.extra_body["n"].as_int();
    if (replies && *replies != 1) {
      return fail(Errc::kUsage, "one reply a request is measured: leave \"n\" out", "--extra-body");
    }
  }
  BK_ASSIGN(server.model, engine::resolve_model(*server.transport, server.endpoint));
  if (!connection.metrics_url.empty()) {
    const auto counters = engine::fetch_counters(*server.transport, server.endpoint);
    if (!counters) return fail(Errc::kEnvironment, "--metrics-url: " + counters.error().what, connection.metrics_url);
  }
  return server;
}

KeepingSink::KeepingSink(cli::Streams& streams, bool quiet)
    : quiet_(quiet), progress_(streams.err, report::ProgressStyle::detect(STDERR_FILENO), clock_) {}

Status KeepingSink::sample(const load::Sample& sample) {
  samples.push_back(sample);
  if (on_sample && !sample.warmup) on_sample(sample);
  return {};
}

Status KeepingSink::gate(const leg::GateResult& gate) {
  gates.push_back(gate);
  return {};
}

void KeepingSink::warn(const std::string& text) {
  warnings.push_back(text);
  progress_.say("warning: " + text);
}

void KeepingSink::progress(const std::string& what, int done, int total) {
  if (!quiet_) progress_.update(what, done, total);
}

namespace {

void look_after(KeepingSink& keep) {
  keep.machine_after = leg::read_machine_state();
  keep.machine_marks = leg::machine_marks(keep.machine_before, keep.machine_after);
  if (keep.machine_marks.empty()) return;
  keep.warn("the machine was not at rest around this leg (" + join(keep.machine_marks, ", ") +
            "): do not compare its figures");
}

}  // namespace

Result<cli::ExitCode> record_leg(const Recorded& what, const Server& server, cli::Streams& streams, KeepingSink& keep,
                                 const std::function<Status(leg::Sink&)>& body,
                                 const std::function<Result<cli::ExitCode>(const KeepingSink&)>& outcome) {
  BK_ASSIGN(store::Database database, store::Database::open(what.db));
  store::RunRow run;
  run.program = what.program;
  run.tool_version = version();
  run.tool_commit = commit();
  run.seed = static_cast<std::int64_t>(what.seed);
  Json argv = Json::array();
  for (const std::string& word : what.args) argv.push(redact(word, streams.secrets));
  run.argv_json = argv.dump();
  run.started_wall = wall_now();
  BK_ASSIGN(run.host_id, database.add_host(store::this_host()));
  BK_ASSIGN(const store::RowId run_id, database.begin_run(run));

  store::LegRow leg;
  leg.run_id = run_id;
  leg.name = what.leg;
  keep.machine_before = leg::read_machine_state();
  Json plan = what.plan;
  leg.plan_json = plan.set("machine_before", leg::to_json(keep.machine_before)).dump();
  leg.endpoint = server.endpoint.base_url;
  leg.model = server.endpoint.model;
  leg.started_wall = wall_now();
  BK_ASSIGN(const store::RowId leg_id, database.begin_leg(leg));

  bracket::StoreSink sink(database, leg_id, keep);
  Status done = body(sink);
  keep.finish();
  const bool stopped = !done && done.error().code == Errc::kInterrupted;
  const std::string state = done ? "done" : stopped ? "interrupted" : "failed";
  const std::string reason = done ? "" : redact(done.error().text(), streams.secrets);
  look_after(keep);
  BK_TRY(database.end_leg(leg_id, state, done ? join(keep.machine_marks, ", ") : reason));
  auto ended = done ? outcome(keep) : Result<cli::ExitCode>(fail(done.error()));
  const cli::ExitCode code = ended ? *ended : cli::exit_code_of(ended.error().code);
  BK_TRY(database.end_run(run_id,
                          ended     ? state
                          : stopped ? "interrupted"
                                    : "failed",
                          static_cast<int>(code), ended ? "" : redact(ended.error().text(), streams.secrets)));
  return ended;
}

namespace {

struct Tally {
  std::size_t asked = 0, good = 0;
  std::string first_reason;
};

Tally tally_of(const std::vector<load::Sample>& samples) {
  Tally tally;
  for (const load::Sample& sample : samples) {
    if (sample.warmup) continue;
    for (const stream::RequestRecord& request : sample.requests) {
      ++tally.asked;
      tally.good += request.ok() ? 1 : 0;
      if (!request.ok() && tally.first_reason.empty()) {
        tally.first_reason = request.reason.empty() ? stream::to_string(request.outcome) : request.reason;
      }
    }
  }
  return tally;
}

}  // namespace

std::string failures_text(const std::vector<load::Sample>& samples) {
  const Tally tally = tally_of(samples);
  if (tally.good == tally.asked) return {};
  return fmt::format("{} of {} requests failed; the first: {}", tally.asked - tally.good, tally.asked,
                     tally.first_reason);
}

Result<cli::ExitCode> outcome_of(const std::vector<load::Sample>& samples) {
  const Tally tally = tally_of(samples);
  if (tally.asked == 0) return fail(Errc::kVoid, "nothing was measured");
  if (tally.good == 0) {
    const std::string what = tally.asked == 1 ? "the request" : fmt::format("all {} requests", tally.asked);
    return fail(Errc::kServer, what + " failed: " + tally.first_reason);
  }
  return tally.good == tally.asked ? cli::ExitCode::kDone : cli::ExitCode::kFailed;
}

Json output_head(const std::string& program) {
  Json head = Json::object();
  head.set("schema_version", kSchemaVersion)
      .set("tool", program)
      .set("tool_version", version())
      .set("commit", commit());
  return head;
}

}  // namespace bk::tool
