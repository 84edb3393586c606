#include "run.h"

#include "tool/load_options.h"

namespace bk::bench_conc {

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  tool::LoadOptions options;
  cli::App app("bench-conc", "Measures a running server under load: rates, latencies and goodput");
  tool::register_load_flags(app, options);
  app.example("bench-conc --base-url http://127.0.0.1:8000 -C 1,4,16", "a closed loop at three depths");
  app.example("bench-conc --rate 20,40 -n 60 --ttft-limit 500 --tpot-limit 30 --json",
              "Poisson arrivals, and the requests per second that keep both limits");
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_TRY(tool::check_load_flags(options));
  tool::Bench bench;
  bench.program = "bench-conc";
  bench.leg = "concurrency";
  bench.plan = tool::load_plan_json(options);
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) {
    leg::ConcurrencyPlan plan = tool::load_plan(options);
    plan.stopped = stopped;
    return leg::run_concurrency(*server.transport, server.endpoint, plan, sink);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) { tool::print_load(bench, keep, server, format, Json::object(), out); };
  return tool::run_bench(bench, options.common, streams, args);
}

}  // namespace bk::bench_conc
