#include "load/prompt_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace bk::load {

Status each_json_line(const std::string& path, const std::function<Status(const Json&, const std::string&)>& take) {
  BK_ASSIGN(const std::string bytes, read_file(path));
  int number = 0;
  for (const std::string_view line : split_lines(bytes)) {
    ++number;
    if (trim(line).empty()) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const auto json = parse_json(line);
    if (!json) return fail(Errc::kUsage, "not a line of JSON: " + json.error().what, where);
    BK_TRY(take(*json, where));
  }
  return {};
}

ContentSet PromptFile::content() const {
  ContentSet set{name, 1, {}};
  for (const std::string& prompt : prompts) set.prompts.push_back({true, prompt});
  return set;
}

Result<PromptFile> read_prompt_file(const std::string& path) {
  PromptFile file;
  file.name = std::filesystem::path(path).filename().string();
  BK_TRY(each_json_line(path, [&file](const Json& line, const std::string& where) -> Status {
    const auto prompt = line["prompt"].as_string();
    if (!prompt || trim(*prompt).empty()) return fail(Errc::kUsage, "a line needs a \"prompt\" with text", where);
    file.prompts.push_back(*prompt);
    return {};
  }));
  if (file.empty()) return fail(Errc::kUsage, "no prompt in the file", path);
  return file;
}

}  // namespace bk::load
