#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/common_flags.h"
#include "leg/greedy.h"

namespace bk::greedy_divergence {

using Texts = leg::GreedyText;

/// Lines {"prompt", "text"}. kUsage naming the line: no such members, a prompt twice, no line at all.
[[nodiscard]] Result<Texts> read_texts(const std::string& path);
[[nodiscard]] std::string to_jsonl(const Texts& texts);

/// What the server of a connection writes. A failed request is an error: kServer, or kInterrupted.
[[nodiscard]] Result<Texts> ask_texts(const cli::Connection& connection, const leg::GreedyPlan& plan, leg::Sink& sink);

}  // namespace bk::greedy_divergence
