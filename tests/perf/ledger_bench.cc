// How long `ledger render` takes on a large database, and how much memory: prints, asserts nothing.
//   ledger_bench DB [BRACKETS [SAMPLES_A_BRACKET]]     DB is made when it is not there.
#include <fmt/core.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <random>

#include "base/process.h"
#include "base/text.h"
#include "ledger_rows.h"

namespace bk::ledger_perf {
namespace {

constexpr int kBoots = 5, kKnobs = 13;
constexpr std::array<const char*, 2> kCells = {"C=1", "C=4"};
constexpr std::array<const char*, 6> kMetrics = {"decode_tok_s", "round_tok_s",   "tpot_ms",
                                                 "ttft_ms",      "prefill_tok_s", "step_s"};

using store::Cell;
using store::TravelRow;

/// Rows as long as real ones: knobs and details of the length that a bracket of the embedded engine leaves.
class Generator {
 public:
  Generator(store::Importer& importer, int samples) : importer_(importer), samples_(samples) {}

  Status bracket(int b) {
    const std::string uid = name("brkt", b), plan = name("plan", b);
    BK_TRY(importer_.add(
        {"plan", {{"uid", plan}, {"config_hash", uid}, {"plan_json", json(1000)}, {"created_wall_ns", wall(b)}}, {}}));
    BK_TRY(importer_.add({"bracket",
                          {{"uid", uid},
                           {"plan", plan},
                           {"profile", fmt::format("profile-{}", b % 7)},
                           {"profile_hash", uid},
                           {"axis", fmt::format("KNOB_{} 0 -> 1", b % 50)},
                           {"knob", fmt::format("KNOB_{}", b % 50)},
                           {"base_value", "0"},
                           {"cand_value", "1"},
                           {"base_knobs_json", json(400)},
                           {"cand_knobs_json", json(400)},
                           {"primary_metric", "decode_tok_s"},
                           {"primary_cell", "C=1"},
                           {"better", "higher"},
                           {"created_wall_ns", wall(b)},
                           {"ended_wall_ns", wall(b)},
                           {"state", "done"},
                           {"reason", ""},
                           {"reopen_reason", ""},
                           {"source", ""}},
                          {}}));
    for (int k = 0; k < kBoots; ++k) BK_TRY(boot(b, k));
    BK_TRY(assessment(b));
    static constexpr std::array<const char*, 5> kWords = {"adopted", "rejected", "neutral", "deferred", "invalid"};
    if (b % 6 == 5) return {};
    return importer_.add({"verdict",
                          {{"uid", name("vrdt", b)},
                           {"bracket", uid},
                           {"assessment", name("asmt", b)},
                           {"word", kWords[static_cast<std::size_t>(b) % 6]},
                           {"original_word", ""},
                           {"signed_by", "maintainers"},
                           {"reason", "because of what was measured"},
                           {"override_reason", ""},
                           {"created_wall_ns", wall(b)}},
                          {}});
  }

 private:
  static Cell wall(int b) { return whole(1'700'000'000LL * kSecond + b * 3600 * kSecond); }
  static std::string json(std::size_t size) { return R"({"x":")" + std::string(size, 'x') + R"("})"; }

  Status boot(int b, int k) {
    const int n = b * kBoots + k;
    const std::string uid = name("boot", n);
    BK_TRY(importer_.add({"boot",
                          {{"uid", uid},
                           {"bracket", name("brkt", b)},
                           {"host", Cell()},
                           {"position", whole(k)},
                           {"attempt", whole(0)},
                           {"arm", k % 2 == 0 ? "base" : "cand"},
                           {"profile", fmt::format("profile-{}", b % 7)},
                           {"profile_hash", uid},
                           {"knobs_json", json(400)},
                           {"confirmed_json", json(400)},
                           {"command_json", json(600)},
                           {"endpoint", ""},
                           {"model", "m"},
                           {"engine", "e"},
                           {"engine_version", "1"},
                           {"image_digest", ""},
                           {"log_path", ""},
                           {"machine_json", json(300)},
                           {"started_wall_ns", wall(b)},
                           {"ended_wall_ns", wall(b)},
                           {"state", "done"},
                           {"reason", ""}},
                          {}}));
    for (int p = 0; p < kKnobs; ++p) {
      BK_TRY(importer_.add({"proof",
                            {{"uid", name("prof", n * kKnobs + p)},
                             {"boot", uid},
                             {"knob", fmt::format("KNOB_{}", b % 50 + p)},
                             {"kind", "http"},
                             {"source", "engine log"},
                             {"expected", "1"},
                             {"observed", "1"},
                             {"state", "held"},
                             {"reason", ""},
                             {"checked_wall_ns", wall(b)}},
                            {}}));
    }
    const std::string leg = name("legs", n);
    BK_TRY(importer_.add(leg_row(leg, uid, "decode", wall(b))));
    for (int s = 0; s < samples_ / kBoots; ++s) BK_TRY(sample(n, s, leg, wall(b)));
    return importer_.add({"gate",
                          {{"uid", name("gate", n)},
                           {"leg", leg},
                           {"name", "check-quality"},
                           {"verdict", "pass"},
                           {"passed", whole(9)},
                           {"asked", whole(9)},
                           {"detail", ""},
                           {"finished_wall_ns", wall(b)}},
                          {}});
  }

  Status sample(int boot, int s, const std::string& leg, const Cell& wall) {
    const double acceptance = 0.3 + 0.02 * normal_(random_);
    TravelRow row = sample_row(boot * 1000 + s, leg, kCells[s % kCells.size()], s, acceptance, wall);
    for (const char* metric : kMetrics) add_metric(row, metric, 60 + normal_(random_));
    return importer_.add(row);
  }

  Status assessment(int b) {
    return importer_.add({"assessment",
                          {{"uid", name("asmt", b)},
                           {"bracket", name("brkt", b)},
                           {"state", "better"},
                           {"reason_code", "effect_beyond_band"},
                           {"reason", "beyond the practical band of 0.5 %"},
                           {"metric", "decode_tok_s"},
                           {"cell", "C=1"},
                           {"effect_raw_pct", 3.5},
                           {"effect_raw_lo_pct", 2.5},
                           {"effect_raw_hi_pct", 4.5},
                           {"effect_raw_reason", ""},
                           {"effect_equal_acceptance_pct", 3.4},
                           {"effect_equal_acceptance_lo_pct", 3.0},
                           {"effect_equal_acceptance_hi_pct", 3.8},
                           {"effect_equal_acceptance_reason", ""},
                           {"effect_on_acceptance_points", 0.1},
                           {"effect_on_acceptance_lo_points", -0.3},
                           {"effect_on_acceptance_hi_points", 0.5},
                           {"effect_on_acceptance_reason", ""},
                           {"p_value", 0.001},
                           {"drift_pct", 0.1},
                           {"historical_call", ""},
                           {"detail_json", json(4000)},
                           {"created_wall_ns", wall(b)},
                           {"tool_version", "0"}},
                          {}});
  }

  store::Importer& importer_;
  int samples_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
};

Status make(const std::string& path, int brackets, int samples) {
  const Nanos begin = monotonic_now();
  BK_ASSIGN(store::Database database, store::Database::open(path));
  BK_ASSIGN(store::Importer importer, store::Importer::begin(database));
  Generator generator(importer, samples);
  for (int b = 0; b < brackets; ++b) BK_TRY(generator.bracket(b));
  BK_TRY(importer.finish());
  fmt::print("made {} brackets, {} samples in {:.1f} s\n", brackets, brackets * samples, to_s(monotonic_now() - begin));
  return {};
}

Status render(const std::string& path) {
  for (int round = 0; round < 3; ++round) {
    Command command;
    command.argv = {BK_BIN_DIR "/ledger", "render", "--db", path, "--out", path + ".md"};
    const Nanos begin = monotonic_now();
    BK_ASSIGN(const Captured done, run_captured(command, 600 * kSecond));
    const double wall_s = to_s(monotonic_now() - begin);
    if (!done.exit.ok()) return fail(Errc::kFailed, done.err);
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    static double before_s = 0;
    const double cpu_s = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    fmt::print("render: {:.2f} s wall, {:.2f} s CPU, {} MB at most, page {} MB\n", wall_s, cpu_s - before_s,
               used.ru_maxrss / 1024, std::filesystem::file_size(path + ".md") / 1'000'000);
    before_s = cpu_s;
  }
  return {};
}

}  // namespace
}  // namespace bk::ledger_perf

int main(int argc, char** argv) {
  using namespace bk;
  const auto number = [&](int at, std::int64_t otherwise) {
    return static_cast<int>(argc > at ? parse_int(argv[at]).value_or(otherwise) : otherwise);
  };
  if (argc < 2) {
    fmt::print(stderr, "ledger_bench: usage: ledger_bench DB [BRACKETS [SAMPLES_A_BRACKET]]\n");
    return 2;
  }
  Status done;
  if (!std::filesystem::exists(argv[1])) done = ledger_perf::make(argv[1], number(2, 10'000), number(3, 100));
  if (done) done = ledger_perf::render(argv[1]);
  if (done) return 0;
  fmt::print(stderr, "ledger_bench: error: {}\n", done.error().text());
  return 3;
}
