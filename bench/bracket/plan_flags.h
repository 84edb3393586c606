#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "bracket/forecast.h"
#include "bracket/plan.h"
#include "cli/app.h"
#include "cli/run_main.h"

namespace bk::bracket_tool {

/// The flags that say what every boot measures and how it is judged.
class PlanFlags {
 public:
  void add_boots(cli::App& app, const std::string& help);
  void add_to(cli::App& app);
  [[nodiscard]] Result<bracket::PlanOptions> options(std::uint64_t seed, const boot::Profile& profile) const;

 private:
  int boots_ = 3, gate_context_ = 2048, greedy_tokens_ = 200;
  std::optional<std::string> gates_;
  std::optional<std::int64_t> reps_, tokens_;
  std::vector<std::int64_t> concurrency_{1};
  double temperature_ = 0.95, alpha_ = 0.05, band_pct_ = 0.5;
  int warmup_ = 1;
  bool quick_ = false, ignore_eos_ = false, no_gate_ = false;
};

/// What will be measured, how it is judged, what that can show and how long it takes; one line each.
void print_plan(std::ostream& out, const bracket::Plan& plan, const bracket::Forecast& forecast);

/// The plan and what it can show, on streams.out; nothing is booted or stored.
[[nodiscard]] Result<cli::ExitCode> dry_run(cli::Streams& streams, const bracket::Plan& plan, const std::string& db);

/// A bracket whose plan is stored.
struct Started {
  store::RowId bracket = 0;
  std::string uid;
};
/// Says what the plan can show, unless quiet, and stores it. @param reopen  as for bracket::store_plan()
[[nodiscard]] Result<Started> start(cli::Streams& streams, store::Database& database, const bracket::Plan& plan,
                                    const std::string& reopen, bool quiet);

[[nodiscard]] Result<boot::Profile> profile_of(const std::string& name);

}  // namespace bk::bracket_tool
