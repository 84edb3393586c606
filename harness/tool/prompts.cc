#include "tool/prompts.h"

namespace bk::tool {

cli::Option add_prompts_flag(cli::App& app, load::PromptFile& prompts, const std::string& instead) {
  return app
      .option(
          "--prompts",
          [&prompts](const std::string& path) -> Status {
            BK_ASSIGN(prompts, load::read_prompt_file(path));
            return {};
          },
          "JSON lines with a \"prompt\" each, instead of " + instead)
      .value("FILE");
}

}  // namespace bk::tool
