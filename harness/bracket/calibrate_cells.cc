#include "bracket/calibrate_cells.h"

#include <fmt/format.h>

namespace bk::bracket {
namespace {

struct Design {
  const char* name;
  const char* order;
  int history;
  std::vector<int> looks;
};

const std::vector<Design>& designs() {
  static const std::vector<Design> all = {
      {"aba", "ABA", 12, {}},
      {"ababa", "ABABA", 12, {}},
      {"abba", "ABBA", 12, {}},
      {"abba8", "ABBAABBA", 0, {}},
      {"alternating9", "ABABABABA", 0, {}},
      {"abba12", "ABBAABBAABBA", 0, {}},
      {"sequential8to12", "ABBAABBAABBA", 0, {8, 12}},
  };
  return all;
}

std::string head(const Design& d) { return d.history > 0 ? fmt::format("{}/history{}", d.name, d.history) : d.name; }

constexpr double kBootSds[] = {0.003, 0.010, 0.017, 0.028};

CalibrationCell cell(const Design& d, const std::string& rest, const World& world,
                     Purpose purpose = Purpose::kFalseAlarm) {
  return {head(d) + "/" + rest, d.order, purpose, world, d.history, d.looks};
}

void add_null_cells(const Design& d, double sd, std::vector<CalibrationCell>& out) {
  World world;
  world.boot_sd = sd;
  const std::string at = fmt::format("sd{:.1f}", 100 * sd);
  out.push_back(cell(d, at, world));
  world.drift = 0.03;
  out.push_back(cell(d, at + "/drift3", world));
  world.luck = world.stalls = world.unequal = true;
  out.push_back(cell(d, at + "/drift3+luck+stalls+unequal", world));
}

void add_single_troubles(const Design& d, std::vector<CalibrationCell>& out) {
  World luck, stalls, unequal;
  luck.luck = stalls.stalls = unequal.unequal = true;
  for (World* world : {&luck, &stalls, &unequal}) world->boot_sd = 0.003;
  out.push_back(cell(d, "sd0.3/luck", luck));
  out.push_back(cell(d, "sd0.3/stalls", stalls));
  out.push_back(cell(d, "sd0.3/unequal", unequal));
}

void add_power_cells(std::vector<CalibrationCell>& out) {
  World world;
  world.boot_sd = 0.003;
  world.effect = 0.035;
  out.push_back({kPowerAba35, "ABA", Purpose::kPower, world, 12});
  world.effect = 0.015;
  out.push_back({kPowerAba15, "ABA", Purpose::kPower, world, 12});
  world.boot_sd = 0.017;
  world.effect = 0.035;
  out.push_back({kPowerAbba12, "ABBAABBAABBA", Purpose::kPower, world, 0});
}

/// Requests scatter by 2 % between one another, as answers of different content do; the pooled ones by 1 %.
void add_naive_cells(std::vector<CalibrationCell>& out) {
  World world;
  out.push_back({kLedgerCell, "ABA", Purpose::kNaive, world, 0, {}, Judge::kLedgerRule});
  world.noise_sd = 0.01;
  world.samples = 20;
  out.push_back({"naive/pooled_u_test/sd1.0", "ABABAB", Purpose::kNaive, world, 0, {}, Judge::kPooledU});
  world.noise_sd = 0.02;
  world.samples = 100;
  out.push_back({"naive/paired_trials/sd1.0", "AB", Purpose::kNaive, world, 0, {}, Judge::kPairedTrials});
  world.boot_sd = 0.028;
  out.push_back({"naive/paired_trials/sd2.8", "AB", Purpose::kNaive, world, 0, {}, Judge::kPairedTrials});
}

/// A sweep of four values and a matrix of two knobs, two rounds each, as family_order() has them.
constexpr const char* kSweepOrder = "ABCDEAEDCBA";
constexpr const char* kMatrixOrder = "ABCACBADADA";

void add_family(const std::string& name, const char* order, Judge judge, int history, const World& world,
                std::vector<CalibrationCell>& out) {
  out.push_back({"family/" + name, order, Purpose::kFamily, world, history, {}, judge});
}

/// Without an effect, and sweeps with a peak at the third of four values and with a flat top.
void add_families(std::vector<CalibrationCell>& out) {
  World plain;
  World hard = plain;
  hard.drift = 0.03;
  hard.luck = hard.stalls = hard.unequal = true;
  const std::string troubles = "/drift3+luck+stalls+unequal";
  add_family("sweep5/sd1.0", kSweepOrder, Judge::kSweep, 0, plain, out);
  add_family("sweep5/history12/sd1.0", kSweepOrder, Judge::kSweep, 12, plain, out);
  add_family("matrix2x2/sd1.0", kMatrixOrder, Judge::kMatrix, 0, plain, out);
  add_family("sweep5/history12/sd1.0" + troubles, kSweepOrder, Judge::kSweep, 12, hard, out);
  add_family("matrix2x2/sd1.0" + troubles, kMatrixOrder, Judge::kMatrix, 0, hard, out);
  hard.boot_sd = 0.003;
  add_family("sweep5/sd0.3" + troubles, kSweepOrder, Judge::kSweep, 0, hard, out);
  hard.boot_sd = 0.028;
  add_family("sweep5/sd2.8" + troubles, kSweepOrder, Judge::kSweep, 0, hard, out);
  plain.effects = {0.01, 0.02, 0.03, 0.015};
  add_family("sweep5/sd1.0/peak", kSweepOrder, Judge::kSweep, 0, plain, out);
  plain.effects = {0.01, 0.02, 0.0205, 0.02};
  add_family("sweep5/history12/sd1.0/flat_top", kSweepOrder, Judge::kSweep, 12, plain, out);
}

}  // namespace

const char* to_string(Judge judge) {
  switch (judge) {
    case Judge::kRule:
      return "bracket";
    case Judge::kLedgerRule:
      return "ledger_rule";
    case Judge::kPooledU:
      return "pooled_u_test";
    case Judge::kSweep:
      return "sweep";
    case Judge::kMatrix:
      return "matrix";
    case Judge::kPairedTrials:
      break;
  }
  return "paired_trials";
}

const char* to_string(Purpose purpose) {
  switch (purpose) {
    case Purpose::kFalseAlarm:
      return "false_alarm";
    case Purpose::kStep:
      return "step";
    case Purpose::kPower:
      return "power";
    case Purpose::kFamily:
      return "family";
    case Purpose::kNaive:
      break;
  }
  return "naive";
}

std::vector<CalibrationCell> calibration_cells() {
  std::vector<CalibrationCell> out;
  for (const Design& d : designs()) {
    for (const double sd : kBootSds) add_null_cells(d, sd, out);
    add_single_troubles(d, out);
    for (const double sd : kBootSds) {
      World world;
      world.boot_sd = sd;
      world.step = 0.03;
      out.push_back(cell(d, fmt::format("sd{:.1f}/step3", 100 * sd), world, Purpose::kStep));
    }
  }
  add_power_cells(out);
  add_naive_cells(out);
  add_families(out);
  return out;
}

}  // namespace bk::bracket
