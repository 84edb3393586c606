#include "bracket/calibrate.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/text.h"
#include "bracket/calibrate_naive.h"
#include "calibrate_page.h"

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

/// Cells of a Markdown table's row, trimmed.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (const auto part : split(line, '|')) cells.emplace_back(trim(part));
  return cells;
}

/// What the committed page says of a figure: the measured number.
std::optional<double> figure_of(const std::string& page, const std::string& name) {
  for (const auto line : split_lines(page)) {
    const auto cells = cells_of(line);
    if (cells.size() > 3 && cells[1] == name) return parse_double(cells[2]);
  }
  return {};
}

}  // namespace

TEST_CASE("a short calibration stays within the bounds") {
  std::vector<CalibrationCell> cells;
  for (const char* name :
       {"aba/history12/sd1.0", "ababa/history12/sd0.3/drift3", "abba8/sd1.7", "sequential8to12/sd1.0",
        "aba/history12/sd1.0/step3", "ababa/history12/sd1.0/step3", kPowerAba35, kPowerAba15, kPowerAbba12,
        "family/sweep5/sd1.0", "family/matrix2x2/sd1.0", "family/sweep5/sd1.0/peak"}) {
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

TEST_CASE("several questions without a correction call far too often, and bounds notice") {
  // Four values at 5 % each against a shared base: one of them is called in more than one family in ten.
  CalibrationCell cell = named("family/sweep5/sd1.0");
  int called = 0;
  constexpr int kFamilies = 600;
  stats::Random random(3);
  for (int i = 0; i < kFamilies; ++i) {
    const auto boots = simulate_boots(cell.world, variants_of(cell.order), random);
    bool any = false;
    for (int v = 1; v <= 4; ++v) any = any || stats::assess(boots, stats::difference(v, 0), {}).significant;
    called += any ? 1 : 0;
  }
  CellResult wrong;
  wrong.cell = cell;
  wrong.brackets = kFamilies;
  wrong.significant = called;
  CHECK(wrong.significant_pct() > 10);
  const auto left = bounds_left(figures_of({wrong}), kSlack);
  REQUIRE(left.size() == 1);
  CHECK(left[0].find("family_false_alarm_max") == 0);
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

TEST_CASE("the committed calibration is the page of the ledger's run, covers every cell and keeps every bound") {
  const auto page = read_file(std::string(BK_SOURCE_DIR) + "/docs/calibration.md");
  REQUIRE(page);
  const auto rows = read_file(std::string(BK_SOURCE_DIR) + "/measurements/general.jsonl");
  REQUIRE(rows);
  const auto result = bracket_tool::calibration_in(*rows);
  REQUIRE(result);
  CHECK(*page == bracket_tool::calibration_page(*result));
  CHECK((*result)["rows"].items().size() == calibration_cells().size());
  for (const CalibrationCell& cell : calibration_cells()) {
    CAPTURE(cell.name);
    CHECK(page->find("| " + cell.name + " ") != std::string::npos);
  }
  CHECK(page->find("20000 simulated brackets in each cell") != std::string::npos);
  for (Bound bound : bounds_of({})) {
    CAPTURE(bound.name);
    bound.value = figure_of(*page, bound.name);
    REQUIRE(bound.value);
    CHECK_FALSE(bound.left(0));
  }
}

TEST_CASE("the page shows a figure beside its bound") {
  const auto result = parse_json(
      R"({"tool":"bracket calibrate","seed":"7","brackets_per_cell":100,"ledger_rule_false_alarm":45.5,"rows":[)"
      R"({"cell":"naive/ledger_rule/sd1.0","purpose":"naive","significant_pct":45.5,"called_pct":null},)"
      R"({"cell":"family/sweep5/sd1.0","purpose":"family","significant_pct":3.25,"best_kept_pct":99.5}]})");
  REQUIRE(result);
  const std::string page = bracket_tool::calibration_page(*result);
  CHECK(figure_of(page, "ledger_rule_false_alarm") == 45.5);
  CHECK_FALSE(figure_of(page, "false_alarm_max"));
  CHECK(page.find("| naive/ledger_rule/sd1.0 ") != std::string::npos);
  CHECK(page.find("at most 5.5") != std::string::npos);
  const std::size_t families = page.find("## Matrices and sweeps");
  REQUIRE(families != std::string::npos);
  const std::size_t row = page.find("| family/sweep5/sd1.0 ", families);
  REQUIRE(row != std::string::npos);
  const auto cells = cells_of(std::string_view(page).substr(row, page.find('\n', row) - row));
  CHECK(cells == std::vector<std::string>{"", "family/sweep5/sd1.0", "3.25", "-", "-", "-", "99.50", ""});
  CHECK(bracket_tool::calibration_in(result->dump(2))->dump() == result->dump());
  for (const char* text : {"", "{}", "[1]", "{\"table\":\"calibration\",\"result_json\":\"{}\"}\n"}) {
    CAPTURE(text);
    REQUIRE_FALSE(bracket_tool::calibration_in(text));
    CHECK(bracket_tool::calibration_in(text).error().code == Errc::kParse);
  }
}
