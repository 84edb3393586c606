#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/common_flags.h"

namespace bk::greedy_divergence {

using Texts = std::map<std::string, std::string>;  ///< prompt -> greedy text

/// Twelve prompts, English and Korean, for long running text.
[[nodiscard]] const std::vector<std::string>& default_prompts();
/// The "prompt" of each line of a JSON lines file. kUsage naming the line.
[[nodiscard]] Result<std::vector<std::string>> read_prompts(const std::string& path);

/// Lines {"prompt", "text"}. kUsage naming the line: no such members, a prompt twice, no line at all.
[[nodiscard]] Result<Texts> read_texts(const std::string& path);
[[nodiscard]] std::string to_jsonl(const Texts& texts);

struct Ask {
  std::vector<std::string> prompts;
  int max_tokens = 200;
  Nanos request_timeout = 600 * kSecond;
  std::function<bool()> stopped;
};
/// Asks every prompt at temperature 0 with thinking off, one at a time. A failed request is an error: kServer, or
/// kInterrupted.
[[nodiscard]] Result<Texts> ask_texts(const cli::Connection& connection, const Ask& ask);

}  // namespace bk::greedy_divergence
