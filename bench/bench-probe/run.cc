#include "run.h"

#include <ostream>

#include "leg/probe.h"
#include "report/format.h"
#include "stats/summary.h"
#include "tool/bench.h"
#include "tool/request_json.h"

namespace bk {
namespace {

using report::Align;
using report::Column;

struct Options {
  cli::CommonFlags common;
  std::int64_t requests = 5;
  std::int64_t prompt_tokens = 2048;
  std::int64_t tokens = 128;
  bool stop_early = false;
};

constexpr const char* kMetrics[] = {"ttft_ms", "prefill_tok_s", "decode_tok_s", "tpot_ms", "e2e_tok_s"};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.warmup = 2;
  options.common.seed = 0;
  options.common.add_to(app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kWarmup,
                              Common::kDb, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  app.section("MEASUREMENT");
  app.option("-n,--requests", options.requests, "measured requests, one after another").range(1, 100000).value("N");
  app.option("--prompt-tokens", options.prompt_tokens, "length of each cold prompt").range(32, 10'000'000).value("N");
  app.option("--tokens", options.tokens, "tokens asked for").range(1, 1'000'000).value("N");
  app.flag("--stop-early", options.stop_early,
           "let the model end its reply; without it exactly --tokens are asked for");
  app.description(
      "Sends cold prompts of about 2048 tokens, each with a nonce of its own in its first line, discards the first two "
      "and reports the median of the rest. With -n 1 and --json, one request whole.");
  app.example("bench-probe --base-url http://127.0.0.1:8000", "two discarded and five measured requests");
  app.example("bench-probe -n 1 --warmup 0 --json", "one request, with every time and count that it gave");
}

leg::ProbePlan plan_of(const Options& options) {
  leg::ProbePlan plan;
  plan.requests = static_cast<int>(options.requests);
  plan.warmup = static_cast<int>(options.common.warmup);
  plan.prompt_tokens = static_cast<int>(options.prompt_tokens);
  plan.max_tokens = static_cast<int>(options.tokens);
  plan.ignore_eos = !options.stop_early;
  plan.seed = options.common.seed;
  return plan;
}

Json plan_json(const Options& options) {
  Json json = Json::object();
  json.set("requests", options.requests).set("warmup", options.common.warmup);
  json.set("prompt_tokens", options.prompt_tokens).set("max_tokens", options.tokens);
  json.set("ignore_eos", !options.stop_early).set("seed", std::to_string(options.common.seed));
  return json;
}

Json sample_json(const load::Sample& sample) {
  Json json = tool::request_json(sample.requests.front());
  json.set("acceptance", tool::acceptance_json(sample.acceptance));
  if (!sample.acceptance.value) json.set("acceptance_reason", sample.acceptance.reason);
  json.set("client_cpu_share", sample.client.cpu_share);
  json.set("client_worst_delay_ms", to_ms(sample.client.worst_delay));
  return json;
}

report::Records records_of(const std::vector<load::Sample>& samples) {
  report::Records records;
  records.columns = {Column{"request", "request", "", Align::kLeft, 6},
                     Column{"prompt_tokens", "prompt", "tok", Align::kRight, 9},
                     Column{"cached_tokens", "cached", "tok", Align::kRight, 9},
                     Column{"completion_tokens", "tokens", "", Align::kRight, 9},
                     Column{"ttft_ms", "TTFT", "ms", Align::kRight, 4},
                     Column{"prefill_tok_s", "prefill", "tok/s", Align::kRight, 4},
                     Column{"decode_tok_s", "decode", "tok/s", Align::kRight, 4},
                     Column{"tpot_ms", "TPOT", "ms", Align::kRight, 4},
                     Column{"e2e_tok_s", "end to end", "tok/s", Align::kRight, 4},
                     Column{"note", "", "", Align::kLeft, 4}};
  std::vector<std::optional<double>> columns[std::size(kMetrics)];
  for (const load::Sample& sample : samples) {
    if (sample.warmup) continue;
    const stream::RequestRecord& record = sample.requests.front();
    std::vector<Json> row = {std::to_string(sample.index + 1),
                             record.usage ? Json(record.usage->prompt_tokens) : Json(),
                             record.usage ? Json(record.usage->cached_tokens) : Json(), record.completion_tokens};
    for (std::size_t i = 0; i < std::size(kMetrics); ++i) {
      columns[i].push_back(tool::metric_of(sample, kMetrics[i]));
      row.emplace_back(columns[i].back());
    }
    const std::string note = tool::note_of(sample, {"prefill_tok_s", "decode_tok_s"});
    row.push_back(note.empty() ? Json() : Json(note));
    records.rows.push_back(std::move(row));
  }
  std::vector<Json> median_row = {"median", Json(), Json(), Json()};
  for (const auto& column : columns) median_row.emplace_back(stats::summarize(column).median);
  median_row.emplace_back();
  records.rows.push_back(std::move(median_row));
  return records;
}

void print(const std::vector<load::Sample>& samples, Json json, report::Format format, std::ostream& out) {
  if (format != report::Format::kJson) {
    out << report::render(records_of(samples), format);
    return;
  }
  Json requests = Json::array();
  for (const load::Sample& sample : samples) {
    if (!sample.warmup) requests.push(sample_json(sample));
  }
  // One request is inspected as an object of its own, several as a list.
  if (requests.items().size() == 1) {
    for (const auto& [key, value] : requests.items().front().members()) json.set(key, value);
  } else {
    Json medians = Json::object();
    for (const char* name : kMetrics) {
      std::vector<std::optional<double>> values;
      for (const load::Sample& sample : samples) {
        if (!sample.warmup) values.push_back(tool::metric_of(sample, name));
      }
      medians.set(name, stats::summarize(values).median);
    }
    json.set("median", medians).set("requests", requests);
  }
  out << json.dump(2) << '\n';
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("bench-probe", "Measures TTFT and decode speed of one endpoint on cold prompts");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  tool::Bench bench;
  bench.program = "bench-probe";
  bench.leg = "probe";
  bench.plan = plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) {
    leg::ProbePlan plan = plan_of(options);
    plan.stopped = stopped;
    return leg::run_probe(*server.transport, server.endpoint, plan, sink);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) {
    Json head = tool::bench_head(bench, server, keep);
    // A single request's "model" is the one that its answer names.
    print(keep.samples, std::move(head.set("served_model", server.endpoint.model)), format, out);
  };
  return tool::run_bench(bench, options.common, streams, args);
}

}  // namespace bk
