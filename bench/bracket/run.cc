#include "run.h"

#include <memory>
#include <vector>

#include "calibrate.h"
#include "cli/app.h"
#include "compare.h"
#include "family_command.h"
#include "gate_command.h"
#include "hot_command.h"
#include "judge.h"
#include "list.h"
#include "plan_command.h"
#include "run_command.h"
#include "same_command.h"
#include "show.h"
#include "verdict.h"

namespace bk::bracket_tool {

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  cli::App app("bracket", "Says whether one changed knob makes an engine better, with a known false-alarm rate");
  std::vector<std::unique_ptr<Command>> commands;
  const auto add = [&](std::unique_ptr<Command> command, const std::string& summary) {
    command->register_on(app.subcommand(command->name(), summary));
    commands.push_back(std::move(command));
  };
  add(std::make_unique<RunCommand>(), "boot both arms, measure, judge");
  add(std::make_unique<FamilyCommand>(bracket::FamilySpec::Kind::kMatrix),
      "several knobs: each alone, then together, and their interaction");
  add(std::make_unique<FamilyCommand>(bracket::FamilySpec::Kind::kSweep), "one knob's values: its curve and its peak");
  add(std::make_unique<HotCommand>(), "judge what needs no reboot, by pairs of requests");
  add(std::make_unique<PlanCommand>(), "what a bracket could show, before it is run");
  add(std::make_unique<SameCommand>(SameCommand::Kind::kBaseline), "boots of one configuration, for later judgements");
  add(std::make_unique<SameCommand>(SameCommand::Kind::kNoDifference), "a bracket without a difference");
  add(std::make_unique<ResumeCommand>(), "finish a bracket that was interrupted");
  add(std::make_unique<GateCommand>(), "boot a profile and run every gate in it: the nightly check");
  add(std::make_unique<ShowCommand>(), "one screen about one bracket");
  add(std::make_unique<ListCommand>(), "every bracket of the database");
  add(std::make_unique<CompareCommand>(), "several brackets side by side");
  add(std::make_unique<JudgeCommand>(), "assess samples that were recorded elsewhere");
  add(std::make_unique<VerdictCommand>(), "sign what a bracket showed");
  add(std::make_unique<CalibrateCommand>(), "measure how often the rule is wrong");

  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  for (const auto& command : commands) {
    if (app.chosen() == command->name()) return command->run(streams, args);
  }
  return fail(Errc::kInternal, "no such subcommand", app.chosen());
}

}  // namespace bk::bracket_tool
