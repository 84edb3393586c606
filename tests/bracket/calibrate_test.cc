#include "bracket/calibrate.h"

#include <catch2/catch.hpp>

#include "bracket/calibrate_naive.h"

using namespace bk;
using namespace bk::bracket;

namespace {

constexpr int kBrackets = 400;
/// Three standard errors of a 5 % share of 400, and a bit.
constexpr double kSlack = 3.5;

CalibrationCell named(const std::string& name) {
  for (const CalibrationCell& cell : calibration_cells()) {
    if (cell.name == name) return cell;
  }
  FAIL("no cell " << name);
  return {};
}

}  // namespace

TEST_CASE("a short calibration stays within the bounds") {
  std::vector<CalibrationCell> cells;
  for (const char* name :
       {"aba/history12/sd1.0", "ababa/history12/sd0.3/drift3", "abba8/sd1.7", "sequential8to12/sd1.0",
        "aba/history12/sd1.0/step3", "ababa/history12/sd1.0/step3", kPowerAba35, kPowerAba15, kPowerAbba12}) {
    cells.push_back(named(name));
  }
  const auto results = run_cells(cells, kBrackets, 1, 2);
  const auto left = bounds_left(figures_of(results), kSlack);
  for (const std::string& sentence : left) UNSCOPED_INFO(sentence);
  CHECK(left.empty());
}

TEST_CASE("the ledger's rule calls about 45 % of brackets without an effect, and bounds notice such a rule") {
  const CellResult ledger = run_cell(named(kLedgerCell), 2000, 1);
  CHECK(ledger.significant_pct() == Approx(45).margin(4));
  CellResult wrong = ledger;
  wrong.cell.purpose = Purpose::kFalseAlarm;
  const auto left = bounds_left(figures_of({wrong}), kSlack);
  REQUIRE(left.size() == 1);
  CHECK(left[0].find("false_alarm_max") == 0);
}

TEST_CASE("one seed, one result, whatever the threads") {
  const std::vector<CalibrationCell> cells{named("abba8/sd1.0"), named("abba8/sd0.3")};
  const auto one = run_cells(cells, 50, 7, 1), two = run_cells(cells, 50, 7, 2);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    CHECK(one[i].significant == two[i].significant);
    CHECK(one[i].covered == two[i].covered);
  }
}

TEST_CASE("U test: complete separation of 4 and 4") {
  // U = 0: z = (8 - 0.5) / sqrt(12) = 2.165, p = 0.0304.
  CHECK(u_test_p({1, 2, 3, 4}, {5, 6, 7, 8}) == Approx(0.0304).margin(1e-4));
  CHECK(u_test_p({1, 3}, {2, 4}) > 0.5);
}
