#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "load/content.h"

namespace bk::load {

/// Calls `take` with every line's value and its place ("FILE:LINE") of a JSON Lines file; blank lines are skipped.
/// kIo, kUsage naming the line that is no JSON, and what `take` returns.
[[nodiscard]] Status each_json_line(const std::string& path,
                                    const std::function<Status(const Json& line, const std::string& where)>& take);

/// The prompts that people bring along: the member "prompt" of each line of a JSON Lines file.
struct PromptFile {
  std::string name;  ///< the file's, without folder
  std::vector<std::string> prompts;

  [[nodiscard]] bool empty() const { return prompts.empty(); }
  /// The same as a content set whose answers are long. The set points into this object.
  [[nodiscard]] ContentSet content() const;
};
/// kUsage naming the line for a missing or empty prompt, or a file without any; kIo.
[[nodiscard]] Result<PromptFile> read_prompt_file(const std::string& path);

}  // namespace bk::load
