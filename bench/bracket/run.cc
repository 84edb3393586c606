#include "run.h"

#include <memory>
#include <vector>

#include "cli/app.h"
#include "judge.h"

namespace bk::bracket_tool {

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  cli::App app("bracket", "Says whether one changed knob makes an engine better, with a known false-alarm rate");
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<JudgeCommand>());
  commands.back()->register_on(app.subcommand("judge", "assess samples that were recorded elsewhere"));

  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  for (const auto& command : commands) {
    if (app.chosen() == command->name()) return command->run(streams, args);
  }
  return fail(Errc::kInternal, "no such subcommand", app.chosen());
}

}  // namespace bk::bracket_tool
