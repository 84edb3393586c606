#pragma once
#include <string>

#include "base/json.h"
#include "measure.h"
#include "report/format.h"

namespace bk::benchy {

/// llama-benchy's JSON document, every member of its 0.4.0 schema in its order; each benchmark ends with a "correct"
/// object: what its columns should say, and what went wrong.
[[nodiscard]] Json to_json(const Outcome& outcome, const Plan& plan, const std::string& model);

/// llama-benchy's table ("pp2048 @ d4096 (c2)", mean ± population deviation), then the correct figures in a second one.
[[nodiscard]] std::string to_tables(const Outcome& outcome, const std::string& model, bool markdown);

/// The rows of both tables in one, for CSV and JSON lines.
[[nodiscard]] report::Records to_records(const Outcome& outcome, const std::string& model);

}  // namespace bk::benchy
