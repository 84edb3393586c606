#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cli/common_flags.h"
#include "leg/concurrency.h"
#include "load/prompt_file.h"
#include "tool/bench.h"

namespace bk::tool {

/// The command line of a program that puts load on a server.
struct LoadOptions {
  cli::CommonFlags common;
  std::vector<std::int64_t> concurrency = {1, 2, 4, 8};
  std::vector<double> rates;
  std::string arrivals = "poisson";
  std::int64_t requests = 0, prompt_tokens = 0, tokens = 256;
  double temperature = 0.95, ramp_s = 0;
  bool stop_early = false;
  leg::ServiceLimits limits;
  load::PromptFile prompts;
  /// Flags that mean something in one of the two loops only.
  std::vector<std::pair<std::string, cli::Option>> closed_only, open_only;
};

/// The connection's and the load's flags, and what such a program says of itself.
void register_load_flags(cli::App& app, LoadOptions& options);
/// kUsage when flags of both loops were given.
[[nodiscard]] Status check_load_flags(const LoadOptions& options);
[[nodiscard]] leg::ConcurrencyPlan load_plan(const LoadOptions& options);
[[nodiscard]] Json load_plan_json(const LoadOptions& options);

/// One row a cell, and what to beware of. `more` stands beside the usual members of JSON.
void print_load(const Bench& bench, const KeepingSink& keep, const Server& server, report::Format format,
                const Json& more, std::ostream& out);

}  // namespace bk::tool
