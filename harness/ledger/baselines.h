#pragma once
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/store.h"

namespace bk::ledger {

/// What the base boots of every profile measured: the first table of the page.
class Baselines {
 public:
  /// Of `boots` those of the base that are done. They belong to one bracket, or to none: then it is empty.
  void add(const store::BracketRow& bracket, const std::vector<store::BootRow>& boots,
           const std::vector<store::BootFigure>& figures);
  /// Those of later brackets.
  void add(const Baselines& later);
  [[nodiscard]] std::string markdown() const;

 private:
  struct Values {
    std::vector<double> medians;  ///< one a boot
    Nanos first = 0, last = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Values> values_;  // profile, cell, metric
};

/// What boots outside any bracket answered at each gate (`bracket gate`), by profile; empty when there are none.
[[nodiscard]] std::string lone_gates(const std::vector<store::BootRow>& boots,
                                     const std::vector<std::pair<store::RowId, store::GateRow>>& gates);

}  // namespace bk::ledger
