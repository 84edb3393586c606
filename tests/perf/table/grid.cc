#include "grid.h"

#include "base/file.h"
#include "base/process.h"
#include "grid_cells.h"
#include "server.h"

namespace bk::perf {
namespace {

constexpr Nanos kRunLimit = 120 * kSecond;

NewestRequests newest_of(const Server& server) {
  return [&server](std::size_t n) -> Result<std::vector<TrueRequest>> {
    BK_ASSIGN(const Json truth, server.truth());
    const auto& requests = truth["requests"].items();
    if (requests.size() < n) return fail(Errc::kMismatch, "the engine knows of fewer requests than were made");
    std::vector<TrueRequest> out;
    for (std::size_t i = requests.size() - n; i < requests.size(); ++i) {
      BK_ASSIGN(TrueRequest one, true_request(requests[i]));
      out.push_back(std::move(one));
    }
    return out;
  };
}

Result<GridErrors> measure_cell(const std::filesystem::path& bin, const GridCell& cell) {
  BK_ASSIGN(const auto server, Server::start_engine(bin / "sim-engine", cell.engine));
  const TempDir dir;
  std::vector<std::string> argv = {bin / cell.program,     "--base-url", server->url(), "--db",
                                   dir.path() / "grid.db", "--quiet",    "--json"};
  argv.insert(argv.end(), cell.flags.begin(), cell.flags.end());
  Json document;
  for (int run = 0; run < cell.runs; ++run) {
    BK_ASSIGN(const Captured ran, run_captured({argv, {}, {}, {}}, kRunLimit));
    if (!ran.exit.ok()) return fail(Errc::kEnvironment, cell.program + " failed: " + ran.err, cell.knobs);
    BK_ASSIGN(document, parse_json(ran.out));
  }
  BK_ASSIGN(const std::vector<Compared> figures, figures_beside_truth(cell.program, document, newest_of(*server)));
  return errors_of(figures);
}

bool nearer(const GridErrors& a, const GridErrors& b) {
  const auto share = [](const GridErrors& e) {
    return static_cast<double>(1000 * (e.wrong + e.missing)) +
           std::max(e.time_ms / kTimeLimit_ms, e.rate_pct / kRateLimit_pct);
  };
  return share(a) < share(b);
}

Result<GridRow> measure_row(const std::filesystem::path& bin, const GridCell& cell, int tries) {
  BK_ASSIGN(GridErrors errors, measure_cell(bin, cell));
  GridRow row{cell.program, cell.knobs, 1, std::move(errors)};
  while (!row.within() && row.tries < tries) {
    BK_ASSIGN(GridErrors again, measure_cell(bin, cell));
    ++row.tries;
    if (nearer(again, row.errors)) row.errors = std::move(again);
  }
  return row;
}

}  // namespace

Result<std::vector<GridRow>> accuracy_grid(const std::filesystem::path& bin, bool quick,
                                           const std::function<void(const std::string&)>& progress) {
  std::vector<GridRow> rows;
  for (const GridCell& cell : grid_cells(quick)) {
    progress(cell.program + ", " + cell.knobs);
    BK_ASSIGN(GridRow row, measure_row(bin, cell, quick ? 1 : kTries));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bk::perf
