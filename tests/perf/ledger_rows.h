#pragma once
#include <fmt/core.h>

#include <string>

#include "store/exchange.h"

// Rows that the benches of large databases have in common.
namespace bk::ledger_perf {

inline std::string name(const char* kind, int n) { return fmt::format("{}{:022}", kind, n); }
inline store::Cell whole(std::int64_t n) { return n; }

inline store::TravelRow leg_row(const std::string& uid, const std::string& boot, const char* name,
                                const store::Cell& wall) {
  return {"leg",
          {{"uid", uid},
           {"run", store::Cell()},
           {"boot", boot},
           {"name", name},
           {"endpoint", ""},
           {"model", ""},
           {"started_wall_ns", wall},
           {"ended_wall_ns", wall},
           {"state", "done"},
           {"reason", ""}},
          {}};
}

inline void add_metric(store::TravelRow& sample, const std::string& metric, double value) {
  sample.parts.push_back({"sample_metric", {{"name", metric}, {"value", value}}, {}});
}

inline store::TravelRow sample_row(int number, const std::string& leg, const std::string& cell, int position,
                                   double acceptance, const store::Cell& wall) {
  return {"sample",
          {{"uid", name("smpl", number)},
           {"leg", leg},
           {"cell", cell},
           {"concurrency", whole(1)},
           {"position", whole(position)},
           {"warmup", whole(0)},
           {"ok", whole(1)},
           {"started_ns", whole(1)},
           {"ended_ns", whole(2)},
           {"started_wall_ns", wall},
           {"accept_raw", acceptance},
           {"accept_reason", ""}},
          {}};
}

}  // namespace bk::ledger_perf
