#include "run.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "base/text.h"
#include "boot/arm.h"
#include "boot/fingerprint.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/format.h"
#include "cli/output.h"
#include "findings.h"
#include "report/table.h"
#include "show.h"

namespace bk::profile_tool {
namespace {

namespace fs = std::filesystem;
using cli::ExitCode;

struct Options {
  std::vector<std::string> names;
  std::string name, knobs;
  bool resolved = false;
  cli::CommonFlags check, show, list;
};

std::vector<std::string> all_names(const fs::path& dir) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".env") names.insert(it->path().stem().string());
  }
  return {names.begin(), names.end()};
}

fs::path root_of(const boot::Profile& profile) { return fs::absolute(profile.path).parent_path().parent_path(); }

Result<boot::Profile> load(const std::string& name) {
  return boot::load_profile(name, boot::default_profile_dir(), boot::caller_environment());
}

Findings findings_of(const std::string& name) {
  const auto profile = load(name);
  if (!profile) return {{profile.error().text()}, {}};
  const fs::path root = root_of(*profile);
  return examine(*profile, root, root / "overlay/modules");
}

Result<ExitCode> check(cli::Streams& streams, const Options& options) {
  std::vector<std::string> names = options.names;
  if (names.empty()) names = all_names(boot::default_profile_dir());
  if (names.empty()) return fail(Errc::kUsage, "there are no profiles", boot::default_profile_dir().string());
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.check.out));
  bool failed = false;
  Json rows = Json::array();
  for (const std::string& name : names) {
    const Findings findings = findings_of(name);
    const bool ok = findings.faults.empty();
    failed = failed || !ok;
    rows.push(Json::object()
                  .set("profile", name)
                  .set("ok", ok)
                  .set("faults", findings.faults)
                  .set("warnings", findings.warnings));
    if (options.check.format == "json") continue;
    fmt::print(output.stream(), "{}: {}\n", name, ok ? "ok" : "refused");
    for (const std::string& fault : findings.faults) fmt::print(output.stream(), "  fault: {}\n", fault);
    for (const std::string& warning : findings.warnings) fmt::print(output.stream(), "  warning: {}\n", warning);
  }
  if (options.check.format == "json") output.stream() << head().set("profiles", std::move(rows)).dump(2) << "\n";
  BK_TRY(output.close());
  return failed ? ExitCode::kFailed : ExitCode::kDone;
}

Result<ExitCode> show(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(const boot::Profile profile, load(options.name));
  boot::KnobMap knobs;
  if (!options.knobs.empty()) {
    BK_ASSIGN(knobs, boot::parse_knobs(options.knobs));
  }
  BK_ASSIGN(const boot::Arm arm, boot::make_arm(profile, "shown", knobs));
  boot::BootVariables variables;
  variables.port = profile.port;
  variables.node_count = std::max(1, static_cast<int>(profile.nodes.size()));
  variables.bin_dir = "{BIN}";
  variables.root_dir = root_of(profile);
  BK_ASSIGN(const Command command, boot::resolve_command(profile, arm, variables));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.show.out));
  if (options.show.format == "json") {
    output.stream() << shown_json(profile, arm, command, options.resolved).dump(2) << "\n";
  } else {
    output.stream() << shown_text(profile, arm, command, options.resolved);
  }
  BK_TRY(output.close());
  return ExitCode::kDone;
}

Result<ExitCode> list(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.list.out));
  std::vector<std::vector<std::string>> rows;
  Json profiles = Json::array();
  for (const std::string& name : all_names(boot::default_profile_dir())) {
    const auto profile = load(name);
    const std::string help = profile ? profile->help : "refused: " + profile.error().text();
    rows.push_back({name, profile ? std::to_string(profile->knobs.size()) : "", help});
    profiles.push(Json::object().set("profile", name).set("ok", profile.has_value()).set("help", help));
  }
  using report::Align;
  if (options.list.format == "json") {
    output.stream() << head().set("profiles", std::move(profiles)).dump(2) << "\n";
  } else {
    output.stream() << report::table({"profile", "knobs", "what it is"}, {Align::kLeft, Align::kRight, Align::kLeft},
                                     rows);
  }
  BK_TRY(output.close());
  return ExitCode::kDone;
}

void register_commands(cli::App& app, Options& options) {
  cli::App& check = app.subcommand("check", "read profiles whole, and say what would disappoint their users");
  check.description(
      "Reads each profile, checks that its defaults keep its rules, that every value of every knob makes a complete "
      "command, that its modules compose, and that every knob has a proof.\n\n"
      "Exit code: 0 all can be used (warnings included), 1 one cannot.");
  check.positional("PROFILE", options.names, "names from profiles/ or paths; none: every shipped one");
  options.check.add_to(check, {cli::Common::kOut});
  cli::add_format(check, options.check, {"table", "json"});
  check.example("profile check", "every shipped profile");
  cli::App& show = app.subcommand("show", "knobs and settings of one profile");
  show.positional("PROFILE", options.name, "a name from profiles/, or a path").required();
  show.flag("--resolved", options.resolved,
            "with the caller's environment applied: the command as a boot would run it");
  show.option("--knobs", options.knobs, "knobs that an arm would set").value("K=V,…").no_default();
  options.show.add_to(show, {cli::Common::kOut});
  cli::add_format(show, options.show, {"table", "json"});
  show.example("profile show dsv4", "its knobs, their bounds and proofs");
  show.example("GATEFUSE=1 profile show --resolved sim", "what a boot from this shell would run");
  cli::App& list = app.subcommand("list", "the shipped profiles");
  options.list.add_to(list, {cli::Common::kOut});
  cli::add_format(list, options.list, {"table", "json"});
}

}  // namespace

Result<ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("profile", "Checks and shows the profiles of engines");
  register_commands(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return ExitCode::kDone;
  if (app.chosen() == "check") return check(streams, options);
  if (app.chosen() == "show") return show(streams, options);
  return list(streams, options);
}

}  // namespace bk::profile_tool
