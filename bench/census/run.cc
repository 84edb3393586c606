#include "run.h"

#include "commands.h"

namespace bk::census {

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  struct Command {
    const char* name;
    Result<cli::ExitCode> (*run)(cli::Streams&, const cli::Args&);
  };
  constexpr Command kCommands[] = {{"composition", run_composition},
                                   {"tail", run_tail},
                                   {"gaps", run_gaps},
                                   {"ranks", run_ranks},
                                   {"nccl-fingerprint", run_nccl}};
  for (const Command& command : kCommands) {
    if (!args.empty() && args.front() == command.name) return command.run(streams, {args.begin() + 1, args.end()});
  }
  return run_table(streams, args);
}

}  // namespace bk::census
