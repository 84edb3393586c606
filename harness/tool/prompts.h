#pragma once
#include "cli/app.h"
#include "load/prompt_file.h"

namespace bk::tool {

/// Registers --prompts FILE.jsonl, read while the command line is: a wrong line is a wrong flag.
/// @param instead  what the file stands in for: "the usual topics"
cli::Option add_prompts_flag(cli::App& app, load::PromptFile& prompts, const std::string& instead);

}  // namespace bk::tool
