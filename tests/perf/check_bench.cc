// How long `ledger check` takes on a long history of one profile, and how much memory: prints, asserts nothing.
//   check_bench DB [BRACKETS]     DB is made when it is not there: judged brackets of three boots, six samples each.
#include <fmt/core.h>
#include <sys/resource.h>

#include <filesystem>
#include <random>

#include "base/process.h"
#include "base/text.h"
#include "bracket/assess_bracket.h"
#include "bracket/execute.h"
#include "ledger_rows.h"

namespace bk::ledger_perf {
namespace {

using store::Cell;

constexpr Nanos kBegin = 1'700'000'000LL * kSecond, kHour = 3600 * kSecond;

bracket::Plan plan_of() {
  bracket::Plan plan;
  plan.profile = "p", plan.profile_hash = "hash", plan.knob = "K", plan.base_value = "0", plan.cand_value = "1";
  plan.base = {{"K", "0"}}, plan.cand = {{"K", "1"}};
  plan.order = bracket::boot_order(3);
  return plan;
}

/// Rows of one bracket after the other; assessments come later, when a bracket's boots are history for the next.
class Generator {
 public:
  explicit Generator(store::Importer& importer) : importer_(importer) {}

  Status bracket(const bracket::Plan& plan, int b) {
    const Cell at = whole(kBegin + b * kHour);
    const std::string uid = name("brkt", b);
    BK_TRY(importer_.add({"plan",
                          {{"uid", name("plan", b)},
                           {"config_hash", bracket::config_hash(plan)},
                           {"plan_json", to_json(plan).dump()},
                           {"created_wall_ns", at}},
                          {}}));
    store::TravelRow row{"bracket", {{"uid", uid}, {"plan", name("plan", b)}, {"created_wall_ns", at}}, {}};
    const std::pair<const char*, std::string> texts[] = {
        {"profile", "p"},           {"profile_hash", "hash"}, {"axis", plan.axis()}, {"knob", "K"},
        {"base_value", "0"},        {"cand_value", "1"},      {"better", "higher"},  {"primary_metric", plan.metric},
        {"state", "done"},          {"reason", ""},           {"reopen_reason", ""}, {"source", ""},
        {"primary_cell", plan.cell}};
    for (const auto& [column, text] : texts) row.columns.emplace_back(column, text);
    BK_TRY(importer_.add(row));
    for (int k = 0; k < 3; ++k) BK_TRY(boot(plan, uid, 3 * b + k, k, at));
    return {};
  }

 private:
  Status boot(const bracket::Plan& plan, const std::string& bracket, int n, int position, const Cell& at) {
    store::TravelRow row{"boot", {{"uid", name("boot", n)}, {"bracket", bracket}, {"host", Cell()}}, {}};
    const std::pair<const char*, std::string> texts[] = {{"arm", position % 2 == 0 ? "base" : "cand"},
                                                         {"profile", "p"},
                                                         {"profile_hash", "hash"},
                                                         {"endpoint", ""},
                                                         {"model", "m"},
                                                         {"engine", "e"},
                                                         {"engine_version", "1"},
                                                         {"image_digest", ""},
                                                         {"log_path", ""},
                                                         {"state", "done"},
                                                         {"reason", ""}};
    for (const auto& [column, text] : texts) row.columns.emplace_back(column, text);
    row.columns.insert(
        row.columns.end(),
        {{"position", whole(position)}, {"attempt", whole(0)}, {"started_wall_ns", at}, {"ended_wall_ns", at}});
    BK_TRY(importer_.add(row));
    const std::string leg = name("legs", n);
    BK_TRY(importer_.add(leg_row(leg, name("boot", n), "", at)));
    const double level = 60 * (1 + 0.01 * normal_(random_));
    for (int s = 0; s < 6; ++s) BK_TRY(sample(plan, leg, 6 * n + s, level * (1 + 0.005 * normal_(random_)), at));
    return {};
  }

  Status sample(const bracket::Plan& plan, const std::string& leg, int n, double value, const Cell& at) {
    store::TravelRow row = sample_row(n, leg, plan.cell, n, 0.3 + 0.02 * normal_(random_), at);
    add_metric(row, plan.metric, value);
    return importer_.add(row);
  }

  store::Importer& importer_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
};

Status make(const std::string& path, int brackets) {
  BK_ASSIGN(store::Database database, store::Database::open(path));
  const bracket::Plan plan = plan_of();
  {
    BK_ASSIGN(store::Importer importer, store::Importer::begin(database));
    Generator generator(importer);
    for (int b = 0; b < brackets; ++b) BK_TRY(generator.bracket(plan, b));
    BK_TRY(importer.finish());
  }
  BK_ASSIGN(const auto all, database.list_brackets_briefly());
  for (const store::BracketSummary& one : all) {
    const store::BracketRow& row = one.bracket;
    BK_ASSIGN(const auto earlier, bracket::earlier_boots(database, plan, row.id, row.created_wall));
    BK_ASSIGN(const auto history, bracket::base_history(database, plan, row.id, earlier));
    BK_ASSIGN(const auto judgement, bracket::judge_bracket(database, row.id, plan, history));
    BK_TRY(database.add_assessment(bracket::to_row(judgement, plan, row.id)));
  }
  return {};
}

Status check(const std::string& path) {
  const std::string page = path + ".md", program = BK_BIN_DIR "/ledger";
  Command command;
  command.argv = {program, "render", "--db", path, "--out", page};
  BK_ASSIGN(const Captured rendered, run_captured(command, 600 * kSecond));
  if (!rendered.exit.ok()) return fail(Errc::kFailed, rendered.err);
  command.argv = {program, "check", page, "--db", path};
  const Nanos begin = monotonic_now();
  BK_ASSIGN(const Captured done, run_captured(command, 600 * kSecond));
  if (!done.exit.ok()) return fail(Errc::kFailed, done.err);
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  fmt::print("check: {:.2f} s, {} MB at most; database {} MB\n", to_s(monotonic_now() - begin), used.ru_maxrss / 1024,
             std::filesystem::file_size(path) / 1'000'000);
  return {};
}

}  // namespace
}  // namespace bk::ledger_perf

int main(int argc, char** argv) {
  using namespace bk;
  if (argc < 2) {
    fmt::print(stderr, "check_bench: usage: check_bench DB [BRACKETS]\n");
    return 2;
  }
  const auto brackets = argc > 2 ? parse_int(argv[2]).value_or(1000) : 1000;
  Status done;
  if (!std::filesystem::exists(argv[1])) done = ledger_perf::make(argv[1], static_cast<int>(brackets));
  if (done) done = ledger_perf::check(argv[1]);
  if (done) return 0;
  fmt::print(stderr, "check_bench: error: {}\n", done.error().text());
  return 3;
}
