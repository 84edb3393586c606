#pragma once
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ledger/asked.h"
#include "store/store.h"

namespace bk::ledger {

/// What the base boots of every profile measured, by what was asked of them: the first table of the page.
class Baselines {
 public:
  /// Of `boots` the bracket's own ones of the base that are done: those that a comparison shares with its matrix or
  /// sweep are counted there.
  void add(const store::BracketRow& bracket, const Asked& asked, const std::vector<store::BootRow>& boots,
           const std::vector<store::BootFigure>& figures);
  /// The same of boots that belong to no bracket.
  void add(const std::map<store::RowId, Asked>& asked, const std::vector<store::BootRow>& lone_boots,
           const std::vector<store::BootFigure>& figures);
  /// Those of later brackets.
  void add(const Baselines& later);
  [[nodiscard]] std::string markdown() const;

 private:
  using Key = std::array<std::string, 5>;  // profile, knobs, asked, cell, metric
  struct Values {
    std::vector<double> medians;  ///< one a boot
    Nanos first = 0, last = 0;
  };
  void add(Key key, const store::BootRow& boot, double median);
  std::map<Key, Values> values_;
};

/// What boots outside any bracket answered at each gate (`bracket gate`), by profile and knobs; empty when there are
/// none.
[[nodiscard]] std::string lone_gates(const std::map<store::RowId, Asked>& asked,
                                     const std::vector<store::BootRow>& boots,
                                     const std::vector<std::pair<store::RowId, store::GateRow>>& gates);

}  // namespace bk::ledger
