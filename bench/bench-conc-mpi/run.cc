#include "run.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "base/text.h"
#include "load/prompts.h"
#include "share.h"
#include "tool/load_options.h"
#include "world.h"

namespace bk::bench_conc_mpi {
namespace {

constexpr const char* kName = "bench-conc-mpi";
constexpr Nanos kAhead = 200 * kMillisecond;  // every rank has read the moment of the start by then

/// Takes the one sample of a cell.
class OneSample final : public leg::Sink {
 public:
  Status sample(const load::Sample& sample) override {
    taken_ = sample;
    return {};
  }
  Status gate(const leg::GateResult&) override { return {}; }
  void warn(const std::string&) override {}
  void progress(const std::string&, int, int) override {}
  [[nodiscard]] const load::Sample& taken() const { return taken_; }

 private:
  load::Sample taken_;
};

/// What the ranks found out about themselves, for rank 0's report.
struct Ranks {
  Nanos worst_clock_error = 0;
  Nanos worst_start_spread = 0;  ///< between the first requests of the ranks, over all cells
};

Nanos first_sent(const load::Sample& sample) {
  Nanos first = 0;
  for (const auto& request : sample.requests) {
    if (request.sent != 0 && (first == 0 || request.sent < first)) first = request.sent;
  }
  return first;
}

/// One cell, on every rank. Rank 0 gets the whole; the others an empty sample.
Result<load::Sample> measure_cell(World& world, const tool::Server& server, const leg::ConcurrencyPlan& cell,
                                  Ranks* ranks) {
  OneSample own;
  Status done;
  const auto share = share_of(cell, world.rank(), world.size());
  SystemClock clock;
  clock.sleep_until(world.common_start(kAhead) + (share ? share->delay : 0));
  if (share) done = leg::run_concurrency(*server.transport, server.endpoint, share->plan, own);
  BK_TRY(world.together(done));
  const std::vector<std::string> texts = world.gather(to_text(own.taken(), world.offset()));
  if (world.rank() != 0) return load::Sample{};
  std::vector<load::Sample> parts;
  Nanos earliest = 0, latest = 0;
  for (const std::string& text : texts) {
    BK_ASSIGN(load::Sample part, from_text(text, 0));
    const Nanos first = first_sent(part);
    if (first != 0) {
      earliest = earliest == 0 ? first : std::min(earliest, first);
      latest = std::max(latest, first);
    }
    parts.push_back(std::move(part));
  }
  ranks->worst_start_spread = std::max(ranks->worst_start_spread, latest - earliest);
  load::Sample whole = merged(cell, parts);
  whole.started_wall = wall_now();
  return whole;
}

Status measure_all(World& world, const tool::Server& server, leg::ConcurrencyPlan plan, leg::Sink& sink,
                   const std::function<bool()>& stopped, Ranks* ranks) {
  plan.stopped = stopped;
  world.measure_clocks();
  for (const std::string& text : world.gather(std::to_string(world.clock_error()))) {
    ranks->worst_clock_error = std::max<Nanos>(ranks->worst_clock_error, parse_int(text).value_or(0));
  }
  const auto cells = cells_of(plan);
  int index = 0;
  for (const leg::ConcurrencyPlan& cell : cells) {
    sink.progress("concurrency", index, static_cast<int>(cells.size()));
    auto whole = measure_cell(world, server, cell, ranks);
    const Status kept = !whole ? Status(fail(whole.error())) : world.rank() == 0 ? sink.sample(*whole) : Status();
    BK_TRY(world.together(kept));
    sink.progress("concurrency", ++index, static_cast<int>(cells.size()));
  }
  return {};
}

/// Every rank but the first: no output, no database.
Status follow(World& world, const tool::LoadOptions& options, cli::Streams& streams) {
  const cli::InterruptGuard interrupts;
  const auto server = [&]() -> Result<tool::Server> {
    BK_ASSIGN(const cli::Connection connection, cli::read_connection(options.common.connection, streams));
    return tool::reach(connection, [&interrupts] { return interrupts.interrupted(); });
  }();
  BK_TRY(world.together(server ? Status() : Status(fail(server.error()))));
  OneSample nobody;
  Ranks ranks;
  return measure_all(
      world, *server, tool::load_plan(options), nobody, [&] { return interrupts.interrupted(); }, &ranks);
}

Result<cli::ExitCode> lead(World& world, const tool::LoadOptions& options, cli::Streams& streams,
                           const cli::Args& args) {
  Ranks ranks;
  bool reached = false;
  tool::Bench bench;
  bench.program = kName;
  bench.leg = "concurrency";
  bench.plan = tool::load_plan_json(options);
  bench.plan.set("ranks", world.size());
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) -> Status {
    reached = true;
    BK_TRY(world.together({}));
    return measure_all(world, server, tool::load_plan(options), sink, stopped, &ranks);
  };
  bench.print = [&](const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
                    std::ostream& out) {
    Json more = Json::object();
    more.set("ranks", world.size()).set("clock_error_ms_max", to_ms(ranks.worst_clock_error));
    more.set("start_spread_ms_max", to_ms(ranks.worst_start_spread));
    tool::print_load(bench, keep, server, format, more, out);
    if (format != report::Format::kTable) return;
    out << fmt::format("{} ranks; clocks known to {:.3f} ms, first requests within {:.1f} ms of each other.\n",
                       world.size(), to_ms(ranks.worst_clock_error), to_ms(ranks.worst_start_spread));
  };
  auto code = tool::run_bench(bench, options.common, streams, args);
  // The others wait for a word of how the server was reached.
  if (!reached && !options.common.dry_run) {
    (void)world.together(code ? Status() : Status(fail(code.error())));
  }
  return code;
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  std::ostringstream silent;
  cli::Streams nobody{silent, silent};
  cli::Streams& mine = launched_rank() == 0 ? streams : nobody;
  tool::LoadOptions options;
  std::optional<std::int64_t> srun_nodes;
  cli::App app(kName, "bench-conc from several machines at once, through MPI");
  tool::register_load_flags(app, options);
  app.section("SLURM");
  app.option("--srun", srun_nodes, "print the line that Slurm runs this with on so many nodes, and stop")
      .range(1, 100'000)
      .value("NODES");
  app.example("mpirun -n 2 bench-conc-mpi --base-url http://127.0.0.1:8000 -C 16 -n 64",
              "sixteen streams, half of them in each process");
  app.example("bench-conc-mpi --srun 4 --base-url http://head:8000 -C 256", "the same on four nodes of Slurm");
  BK_ASSIGN(const cli::Parsed parsed, app.parse(mine, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_TRY(tool::check_load_flags(options));
  if (srun_nodes) {
    cli::Args rest;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i] == "--srun") {
        ++i;
      } else if (!args[i].starts_with("--srun=")) {
        rest.push_back(args[i]);
      }
    }
    mine.out << srun_line(static_cast<int>(*srun_nodes), rest) << '\n';
    return cli::ExitCode::kDone;
  }
  options.common.seed = load::seed_or_new(options.common.seed);
  World world;
  if (world.rank() == 0) return lead(world, options, mine, args);
  if (options.common.dry_run) return cli::ExitCode::kDone;
  // What went wrong on any rank is said by rank 0, whose exit code counts.
  (void)follow(world, options, mine);
  return cli::ExitCode::kDone;
}

}  // namespace bk::bench_conc_mpi
