#include "run.h"

#include <fmt/format.h>

#include "base/file.h"
#include "capture.h"
#include "cli/format.h"
#include "report/markdown.h"
#include "report/number.h"
#include "report/table.h"
#include "tool/session.h"
#include "trace/decompose.h"

namespace bk::profile_step {
namespace {

struct Options {
  cli::CommonFlags common;
  std::string work, folder, groups;
  std::int64_t batched = 4096;
  double settle_s = 2, wait_s = 180;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  app.description(
      "POSTs /start_profile, sends one request, POSTs /stop_profile, waits until the trace in FOLDER keeps its size, "
      "and "
      "sums its kernels by group. Steps of a prefill are prompt tokens over --batched; of a decode, the engine's "
      "drafts, "
      "or without drafts its tokens. Leave stack capture off in the engine: it can take the worker's memory.");
  app.positional("WORK", options.work, "prefill, prefill:TOKENS or decode:TOKENS").required();
  app.positional("FOLDER", options.folder, "where the engine writes its traces").required();
  app.option("--batched", options.batched, "prompt tokens that the engine prefills in one step").range(1, 10'000'000);
  app.option("--groups", options.groups, "file with groups, as census takes it").value("FILE").no_default();
  app.option("--settle", options.settle_s, "seconds for which a finished trace keeps its size").range(0.05, 600);
  app.option("--wait", options.wait_s, "seconds to wait for the trace").range(1, 86'400);
  options.common.add_to(app, {Common::kConnection, Common::kMetrics, Common::kSeed, Common::kOut, Common::kQuiet});
  cli::add_format(app, options.common, {"table", "json", "md"});
  app.example("profile-step decode:64 /traces --base-url http://127.0.0.1:8000", "one decode of 64 tokens");
}

Json per_step(double value, const Traced& traced) {
  if (traced.steps < 1) return nullptr;
  return value / static_cast<double>(traced.steps);
}

Json as_json(const Options& options, const Traced& traced, const trace::Decomposition& d) {
  Json json = tool::output_head("profile-step");
  json.set("work", options.work).set("trace", d.source);
  json.set("prompt_tokens", traced.prompt_tokens).set("completion_tokens", traced.completion_tokens);
  json.set("steps", traced.steps).set("steps_basis", traced.steps_basis);
  json.set("wall_ms", d.wall_ms).set("busy_ms", d.busy_ms).set("idle_ms", d.idle_ms).set("sum_ms", d.sum_ms);
  json.set("left_out", static_cast<std::int64_t>(d.left_out));
  json.set("busy_pct", d.busy_pct()).set("idle_pct", 100 - d.busy_pct()).set("overlapped", d.sum_ms > d.busy_ms);
  Json groups = Json::array(), kernels = Json::array();
  for (const auto& row : d.groups) {
    groups.push(Json::object()
                    .set("group", row.name)
                    .set("ms", row.ms)
                    .set("share_pct", row.share_pct)
                    .set("ms_per_step", per_step(row.ms, traced))
                    .set("count", static_cast<std::int64_t>(row.count)));
  }
  for (const auto& row : d.kernels) {
    kernels.push(Json::object()
                     .set("name", row.name)
                     .set("group", row.group)
                     .set("ms", row.ms)
                     .set("count", static_cast<std::int64_t>(row.count)));
  }
  return json.set("groups", std::move(groups)).set("kernels", std::move(kernels));
}

using Rows = std::vector<std::vector<std::string>>;

std::string as_text(const Options& options, const Traced& traced, const trace::Decomposition& d, bool markdown) {
  using report::Align;
  const auto table = markdown ? report::markdown_table : report::table;
  std::string text =
      fmt::format("{}: {} prompt and {} generated tokens, {} steps ({})\ntrace: {}\n", options.work,
                  traced.prompt_tokens, traced.completion_tokens, traced.steps, traced.steps_basis, d.source);
  if (d.left_out > 0) {
    text += fmt::format("{} kernels or copies without a start or a duration are left out\n", d.left_out);
  }
  text += fmt::format("wall {:.3f} ms, busy {:.3f} ms ({:.1f} %), idle {:.3f} ms ({:.1f} %), sum {:.3f} ms{}\n\n",
                      d.wall_ms, d.busy_ms, d.busy_pct(), d.idle_ms, 100 - d.busy_pct(), d.sum_ms,
                      d.sum_ms > d.busy_ms ? ": streams overlap" : "");
  Rows groups, kernels;
  for (const auto& row : d.groups) {
    groups.push_back({row.name, report::number(row.ms), report::fixed(row.share_pct, 1),
                      report::number(per_step(row.ms, traced).as_double())});
  }
  text += table({"group", "ms", "% of sum", "ms/step"}, {Align::kLeft, Align::kRight, Align::kRight, Align::kRight},
                groups);
  constexpr std::size_t kShown = 40, kWidth = 72;
  for (const auto& row : d.kernels) {
    if (kernels.size() == kShown) break;
    kernels.push_back(
        {std::string(report::clip(row.name, kWidth)), row.group, std::to_string(row.count), report::number(row.ms)});
  }
  return text + "\n" +
         table({"kernel", "group", "count", "ms"}, {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight}, kernels);
}

Result<trace::Decomposition> decompose_file(const Options& options, const std::string& path) {
  std::string text = trace::default_rules_text();
  if (!options.groups.empty()) {
    BK_ASSIGN(text, read_file(options.groups));
  }
  BK_ASSIGN(const trace::Rules rules, trace::parse_rules(text, options.groups.empty() ? "built-in" : options.groups));
  BK_ASSIGN(const trace::Recording recording, trace::record_file(path));
  return trace::decompose(recording, rules);
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("profile-step", "Has a server trace one request, and says where a step's time goes");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  const std::string& format = options.common.format;
  BK_ASSIGN(Work work, parse_work(options.work));
  work.seed = options.common.seed;
  BK_ASSIGN(const cli::Connection connection, cli::read_connection(options.common.connection, streams));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  BK_ASSIGN(const TraceFolder folder, TraceFolder::look(options.folder));
  BK_ASSIGN(const tool::Server server, tool::reach(connection));
  BK_ASSIGN(const Traced traced, trace_request(*server.transport, server.endpoint, work, options.batched));
  SystemClock clock;
  if (!options.common.quiet) streams.err << "waiting for the trace in " << options.folder << "\n";
  BK_ASSIGN(const std::string path, folder.wait_for_trace(from_s(options.settle_s), from_s(options.wait_s), clock));
  BK_ASSIGN(const trace::Decomposition decomposition, decompose_file(options, path));
  output.stream() << (format == "json" ? as_json(options, traced, decomposition).dump(2) + "\n"
                                       : as_text(options, traced, decomposition, format == "md"));
  BK_TRY(output.close());
  return cli::ExitCode::kDone;
}

}  // namespace bk::profile_step
