#include <fmt/format.h>

#include <ostream>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/output.h"
#include "commands.h"

namespace bk::overlay {
namespace {

using cli::ExitCode;

struct FileDiff {
  std::string module, target, kind, text;
  std::size_t added = 0, removed = 0;  ///< lines
};

/// The package's own bytes; nothing for a target that is not there.
Result<std::string> old_bytes(const manifest::Tree& package, const std::string& target) {
  BK_ASSIGN(const manifest::Node node, package.look(target));
  if (node.kind == manifest::NodeKind::kAbsent) return std::string();
  return package.read(target);
}

Result<FileDiff> diff_of(const manifest::OwnedRow& owned, const manifest::ComposedFile& file,
                         const manifest::Tree& package) {
  FileDiff diff{owned.module, file.target, owned.row.preimage.empty() ? "add" : "replace", {}, 0, 0};
  BK_ASSIGN(const std::string before, old_bytes(package, file.target));
  const TempDir dir;
  BK_TRY(write_file_atomic(dir.path() / "old", before));
  BK_TRY(write_file_atomic(dir.path() / "new", file.bytes));
  const std::string old_label = before.empty() ? "/dev/null" : "a/" + file.target;
  BK_ASSIGN(const Captured run,
            run_captured({{"diff", "-u", "--label", old_label, "--label", "b/" + file.target, "old", "new"},
                          {{"LC_ALL", "C"}},
                          dir.path().string(),
                          ""},
                         30 * kSecond));
  if (run.exit.code > 1 && !run.out.starts_with("Binary files")) {
    return fail(Errc::kIo, "diff failed: " + std::string(trim(run.err)), file.target);
  }
  diff.text = run.out;
  bool body = false;
  for (const std::string_view line : split_lines(run.out)) {
    body = body || line.starts_with("@@");
    if (body && line.starts_with('+')) ++diff.added;
    if (body && line.starts_with('-')) ++diff.removed;
  }
  return diff;
}

Json to_json(const FileDiff& diff) {
  Json json = Json::object();
  json.set("module", diff.module).set("target", diff.target).set("kind", diff.kind);
  return json.set("lines_added", diff.added).set("lines_removed", diff.removed).set("diff", diff.text);
}

}  // namespace

Result<ExitCode> run_diff(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(const Lane lane, load_lane(options.lane));
  BK_ASSIGN(const auto package, open_package(options.package, lane));
  Json files = Json::array();
  std::string table;
  std::size_t next = 0;
  for (const manifest::OwnedRow& owned : lane.composition.rows) {
    if (!owned.row.mounts()) continue;
    BK_ASSIGN(const FileDiff diff, diff_of(owned, lane.composition.files[next++], *package));
    files.push(to_json(diff));
    table += fmt::format("# {} {} (module {}): {} lines added, {} removed\n{}", diff.kind, diff.target, diff.module,
                         diff.added, diff.removed, diff.text);
  }
  Json json = Json::object();
  json.set("schema_version", 1).set("tool", "overlay diff").set("version", version()).set("commit", commit());
  json.set("profile", lane.profile.name).set("package", package->name()).set("files", std::move(files));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  output.stream() << (options.common.format == "json" ? json.dump(2) + "\n" : table);
  BK_TRY(output.close());
  return ExitCode::kDone;
}

}  // namespace bk::overlay
