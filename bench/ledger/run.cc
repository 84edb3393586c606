#include "run.h"

#include "base/file.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/output.h"
#include "ledger/check.h"
#include "ledger/render.h"
#include "store/store.h"

namespace bk::ledger_tool {
namespace {

constexpr const char* kDefaultPage = "MEASUREMENTS.md";

Result<std::string> page_of(const std::string& path) {
  BK_ASSIGN(store::Database database, store::Database::open(path, store::OpenMode::kReadOnly));
  return ledger::render_markdown(database);
}

Result<cli::ExitCode> render(cli::Streams& streams, const cli::CommonFlags& flags) {
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags.out));
  BK_ASSIGN(const std::string page, page_of(flags.db));
  output.stream() << page;
  BK_TRY(output.close());
  if (flags.out != "-") streams.err << "ledger: wrote " << flags.out << '\n';
  return cli::ExitCode::kDone;
}

Result<cli::ExitCode> check(cli::Streams& streams, const cli::CommonFlags& flags, const std::string& file) {
  BK_ASSIGN(const std::string page, page_of(flags.db));
  BK_ASSIGN(const std::string have, read_file(file));
  BK_TRY(ledger::check_rendering(have, page, file));
  streams.out << file << " is the rendering of " << flags.db << '\n';
  return cli::ExitCode::kDone;
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  cli::App app("ledger", "Renders the database of brackets as a page, and checks that the two agree");
  app.example("ledger render --db results.db", "writes MEASUREMENTS.md");
  app.example("ledger check --db results.db MEASUREMENTS.md", "fails when the page was edited or is out of date");

  cli::CommonFlags rendered;
  rendered.out = kDefaultPage;
  cli::App& render_app = app.subcommand("render", "Write the page (--out - for standard output)");
  rendered.add_to(render_app, {cli::Common::kDb, cli::Common::kOut});

  cli::CommonFlags checked;
  std::string file = kDefaultPage;
  cli::App& check_app = app.subcommand("check", "Compare a page with what the database says");
  checked.add_to(check_app, {cli::Common::kDb});
  check_app.positional("FILE", file, "the page; " + std::string(kDefaultPage) + " unless given");

  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  return app.chosen() == "render" ? render(streams, rendered) : check(streams, checked, file);
}

}  // namespace bk::ledger_tool
