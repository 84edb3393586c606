#include "move_commands.h"

#include <fmt/ostream.h>

#include "cli/output.h"
#include "ledger/text_files.h"
#include "ledger/verdict_words.h"
#include "store/exchange.h"

namespace bk::ledger_tool {
namespace {

void print_tally(cli::Streams& streams, const std::string& from, const store::ImportTally& tally) {
  fmt::print(streams.out, "{}: {} rows added ({} brackets), {} updated, {} known already\n", from, tally.added,
             tally.brackets, tally.updated, tally.known);
}

std::string word_table() {
  std::string text = "An older ledger's words become these verdicts; the original word is kept:\n";
  for (const auto& word : ledger::verdict_words()) {
    text += fmt::format("\n  {:<17} {:<12} {}", word.original, word.verdict, word.because);
  }
  return text;
}

}  // namespace

void ExportCommand::register_on(cli::App& app) {
  app.description(
      "JSON lines hold every row, references by name, so that `ledger import` rebuilds a database from them. CSV holds "
      "every value of every measured sample, one a row.\n\n"
      "--signed writes one file for each signed bracket, without the texts and token times of its requests, for "
      "version control: the same bytes for the same rows, so that unchanged brackets show no difference.");
  app.example("ledger export --signed", "measurements/*.jsonl of the signed brackets");
  app.example("ledger export --format csv --out samples.csv", "for a spreadsheet");
  app.option("--db", db_, "results database").value("FILE").env("BRACKETKIT_DB");
  app.flag("--signed", signed_, "a file for each signed bracket, into the directory --out (measurements)");
  app.option("--format", format_, "form of the text").choices({"jsonl", "csv"});
  app.option("--out", out_, "where to; standard output when left out").value("FILE").no_default();
}

Result<cli::ExitCode> ExportCommand::run_signed(cli::Streams& streams) {
  if (format_ != "jsonl") return fail(Errc::kUsage, "--signed writes JSON lines; leave --format out", format_);
  const std::string directory = out_.empty() ? "measurements" : out_;
  BK_ASSIGN(store::Database database, store::Database::open(db_, store::OpenMode::kReadOnly));
  BK_ASSIGN(const ledger::SignedFiles files, ledger::export_signed(database, directory));
  fmt::print(streams.out, "{}: {} signed brackets, {} files written\n", directory, files.brackets, files.written);
  return cli::ExitCode::kDone;
}

Result<cli::ExitCode> ExportCommand::run(cli::Streams& streams) {
  if (signed_) return run_signed(streams);
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, out_));
  BK_ASSIGN(store::Database database, store::Database::open(db_, store::OpenMode::kReadOnly));
  BK_TRY(format_ == "csv" ? ledger::export_csv(database, output.stream())
                          : ledger::export_jsonl(database, output.stream()));
  BK_TRY(output.close());
  return cli::ExitCode::kDone;
}

void ImportCommand::register_on(cli::App& app) {
  app.description(
      "Takes JSON lines of `ledger export` (a directory stands for its .jsonl files), the .tsv of an older ledger, or "
      "the .json of `bracket calibrate --json`. Each path comes in whole or, on an error, not at all; what is there "
      "already is left.\n\n" +
      word_table());
  app.example("ledger import measurements --db results.db", "rebuilds a database from signed brackets");
  app.example("ledger import ledger-facts.tsv", "decisions of an older ledger");
  app.positional("PATH", paths_, "files and directories").required();
  flags_.add_to(app, {cli::Common::kDb});
}

Result<cli::ExitCode> ImportCommand::run(cli::Streams& streams) {
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  for (const std::string& path : paths_) {
    BK_ASSIGN(const store::ImportTally tally, ledger::import_path(database, path));
    print_tally(streams, path, tally);
  }
  return cli::ExitCode::kDone;
}

void MergeCommand::register_on(cli::App& app) {
  app.description(
      "Every row of OTHER that is not in --db is added, the requests too; a bracket that went on in OTHER is brought "
      "up to date. Doing it twice changes nothing.");
  app.example("ledger merge laptop.db --db results.db", "OTHER is only read");
  app.positional("OTHER", other_, "the database to take from").required();
  flags_.add_to(app, {cli::Common::kDb});
}

Result<cli::ExitCode> MergeCommand::run(cli::Streams& streams) {
  BK_ASSIGN(store::Database from, store::Database::open(other_, store::OpenMode::kReadOnly));
  BK_ASSIGN(store::Database into, store::Database::open(flags_.db));
  BK_ASSIGN(const store::ImportTally tally, store::merge(into, from));
  print_tally(streams, from.where(), tally);
  return cli::ExitCode::kDone;
}

void BackupCommand::register_on(cli::App& app) {
  app.example("ledger backup copy.db", "restore it by putting it in the place of the database");
  app.positional("FILE", file_, "the copy, which must not be there yet").required();
  flags_.add_to(app, {cli::Common::kDb});
}

Result<cli::ExitCode> BackupCommand::run(cli::Streams& streams) {
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  BK_TRY(database.backup(file_));
  fmt::print(streams.out, "{} is a copy of {}\n", file_, database.where());
  return cli::ExitCode::kDone;
}

}  // namespace bk::ledger_tool
