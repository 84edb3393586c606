#include "commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <system_error>

#include "base/version.h"
#include "boot/overlay.h"
#include "build_tree.h"
#include "cli/output.h"
#include "manifest/verify.h"
#include "report/table.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;
using cli::ExitCode;

Json head(const std::string& command) {
  Json json = Json::object();
  json.set("schema_version", 1).set("tool", "overlay " + command).set("version", version()).set("commit", commit());
  return json;
}

Result<ExitCode> print(cli::Streams& streams, const Options& options, const Json& json, const std::string& table,
                       ExitCode code = ExitCode::kDone) {
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  output.stream() << (options.common.format == "json" ? json.dump(2) + "\n" : table);
  BK_TRY(output.close());
  return code;
}

const char* kind_name(manifest::RowKind kind) {
  switch (kind) {
    case manifest::RowKind::kReplace:
      return "replace";
    case manifest::RowKind::kAdd:
      return "add";
    case manifest::RowKind::kVerify:
      return "verify";
  }
  return "verify";
}

Json row_json(const manifest::OwnedRow& owned) {
  Json json = Json::object();
  json.set("module", owned.module).set("row", owned.row.line).set("kind", kind_name(owned.row.kind));
  json.set("source", owned.row.mounts() ? Json(owned.row.source) : Json()).set("target", owned.row.target);
  json.set("preimage", owned.row.preimage.empty() ? "absent" : owned.row.preimage);
  return json;
}

}  // namespace

Result<ExitCode> run_compose(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(const Lane lane, load_lane(options.lane));
  const manifest::Composition& made = lane.composition;
  fs::path place = fs::path(options.build_dir) / made.profile;
  if (!options.common.dry_run) {
    BK_ASSIGN(place, write_composed(made, options.build_dir));
  }
  Json json = head("compose");
  json.set("profile", made.profile).set("folder", place.string()).set("written", !options.common.dry_run);
  json.set("modules", Json(made.modules)).set("digest", made.digest()).set("files", made.files.size());
  Json rows = Json::array();
  for (const manifest::OwnedRow& owned : made.rows) rows.push(row_json(owned));
  json.set("rows", std::move(rows));
  const std::string table =
      fmt::format("{}{}: {} modules, {} rows, {} files, digest {}\n", options.common.dry_run ? "would write " : "",
                  place.string(), made.modules.size(), made.rows.size(), made.files.size(), made.digest());
  return print(streams, options, json, table);
}

Result<ExitCode> run_verify(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(const Lane lane, load_lane(options.lane));
  BK_ASSIGN(const auto package, open_package(options.package, lane));
  BK_ASSIGN(const auto problems, manifest::verify(lane.composition.rows, *package));
  Json json = head("verify");
  json.set("profile", lane.profile.name).set("package", package->name()).set("rows", lane.composition.rows.size());
  Json list = Json::array();
  std::string table;
  for (const manifest::Problem& problem : problems) {
    Json one = Json::object();
    one.set("module", problem.module).set("row", problem.line).set("target", problem.target);
    list.push(one.set("reason", manifest::to_string(problem.reason)).set("text", problem.text));
    table += fmt::format("module {}, row {}: {}\n", problem.module, problem.line, problem.text);
  }
  json.set("problems", std::move(list)).set("ok", problems.empty());
  table += problems.empty() ? fmt::format("{} fits: {} rows of {} modules\n", package->name(),
                                          lane.composition.rows.size(), lane.composition.modules.size())
                            : fmt::format("{} does not fit: {} of {} rows\n", package->name(), problems.size(),
                                          lane.composition.rows.size());
  return print(streams, options, json, table, problems.empty() ? ExitCode::kDone : ExitCode::kFailed);
}

Result<ExitCode> run_list(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(const Lane lane, load_lane(options.lane));
  Json json = head("list");
  json.set("profile", lane.profile.name).set("package", lane.composition.root);
  std::vector<std::vector<std::string>> cells;
  Json rows = Json::array();
  for (const manifest::OwnedRow& owned : lane.composition.rows) {
    rows.push(row_json(owned));
    cells.push_back({owned.module, kind_name(owned.row.kind), owned.row.source, owned.row.target,
                     owned.row.preimage.empty() ? "absent" : owned.row.preimage.substr(0, 12)});
  }
  json.set("rows", std::move(rows));
  return print(
      streams, options, json,
      report::table({"module", "kind", "source", "target", "preimage"}, std::vector(5, report::Align::kLeft), cells));
}

Result<ExitCode> run_enter(cli::Streams& streams, const Options& options) {
  if (options.engine.empty()) return fail(Errc::kUsage, "no program to run after --");
  BK_ASSIGN(const std::string said, boot::enter_laid_out(options.laid_out, options.mounted_package));
  streams.err << said << std::endl;
  std::vector<char*> argv;
  for (const std::string& word : options.engine) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return fail(Errc::kEnvironment, std::string("cannot run it: ") + std::strerror(errno), options.engine.front());
}

}  // namespace bk::overlay
