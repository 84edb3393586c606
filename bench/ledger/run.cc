#include "run.h"

#include <memory>
#include <vector>

#include "cli/app.h"
#include "move_commands.h"
#include "page_commands.h"
#include "reassess_command.h"
#include "serve_command.h"

namespace bk::ledger_tool {

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  cli::App app("ledger", "Renders the database of brackets, keeps it as text, and checks that the two agree");
  app.example("ledger render --db results.db", "writes MEASUREMENTS.md");
  app.example("ledger check --db results.db MEASUREMENTS.md", "fails when the page was edited or is out of date");
  app.example("ledger export --signed", "signed brackets as text, for version control");
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<RenderCommand>());
  commands.push_back(std::make_unique<ReportCommand>());
  commands.push_back(std::make_unique<ServeCommand>());
  commands.push_back(std::make_unique<CheckCommand>());
  commands.push_back(std::make_unique<ReassessCommand>());
  commands.push_back(std::make_unique<NoteCommand>());
  commands.push_back(std::make_unique<ExportCommand>());
  commands.push_back(std::make_unique<ImportCommand>());
  commands.push_back(std::make_unique<MergeCommand>());
  commands.push_back(std::make_unique<BackupCommand>());
  for (const auto& command : commands) command->register_on(app.subcommand(command->name(), command->summary()));

  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  for (const auto& command : commands) {
    if (app.chosen() == command->name()) return command->run(streams);
  }
  return fail(Errc::kInternal, "no such subcommand", app.chosen());
}

}  // namespace bk::ledger_tool
