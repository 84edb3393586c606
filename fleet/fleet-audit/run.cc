#include "run.h"

#include <algorithm>
#include <future>
#include <ostream>

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "checks.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/format.h"
#include "cli/output.h"
#include "look.h"
#include "report/table.h"

namespace bk::fleet_audit {
namespace {

using cli::ExitCode;

struct Options {
  cli::CommonFlags common;
  std::vector<std::string> nodes = {"local"};
  std::string clock_unit = "gpu-clock-cap.service", root;
  int clock_mhz = 2000;
  bool values = false;
};

void register_flags(cli::App& app, Options& options) {
  app.description(
      "Looks at every node of a fleet, over ssh (with its own configuration, keys and known hosts; it never asks), and "
      "compares what it finds with what serving needs: compaction proactiveness 0 and persisted, one RoCE v2 GID index "
      "on all nodes, links at 200000 Mb/s, the GPU's clock capped, large free pages, no container left over. It reads "
      "and writes nothing.\n\n"
      "Exit code: 0 all pass, 1 one fails, 4 none fails and one is unknown: what cannot be read never passes.");
  app.positional("NODE", options.nodes, "ssh destinations, or local for this machine");
  app.option("--clock-unit", options.clock_unit, "systemd unit that caps the GPU's clock").value("NAME");
  app.option("--clock-mhz", options.clock_mhz, "the cap").range(1, 100000).value("MHZ");
  app.option("--root", options.root, "folder that stands for / on this machine: an unpacked image, say")
      .value("DIR")
      .no_default();
  app.flag("--values", options.values, "print everything that was read too, for the record of a maintenance");
  options.common.add_to(app, {cli::Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("fleet-audit head worker1 worker2 worker3", "before and after a maintenance");
  app.example("fleet-audit --values --json --out before.json", "this machine alone, with all that was read");
}

bool is_plain(const std::string& word) {
  return !word.empty() && word[0] != '-' && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-@:").find(c) != std::string_view::npos;
  });
}

bk::Status refuse_odd_words(const Options& options) {
  if (!is_plain(options.clock_unit)) return fail(Errc::kUsage, "a unit is of A-Z a-z 0-9 . _ - @", options.clock_unit);
  for (const std::string& node : options.nodes) {
    if (!is_plain(node)) return fail(Errc::kUsage, "a node is host or user@host, of A-Z a-z 0-9 . _ - : @", node);
    if (!options.root.empty() && node != "local") return fail(Errc::kUsage, "--root is for this machine alone", node);
    if (std::count(options.nodes.begin(), options.nodes.end(), node) > 1)
      return fail(Errc::kUsage, "a node is named twice", node);
  }
  return {};
}

std::vector<NodeFacts> look_at_all(const Options& options) {
  std::vector<std::future<NodeFacts>> looks;
  for (const std::string& node : options.nodes) {
    looks.push_back(std::async(std::launch::async, [&options, node] {
      const auto text = look(node, options.clock_unit, options.root);
      if (text) return read_facts(node, *text);
      NodeFacts silent;
      silent.node = node;
      silent.error = text.error().what;
      return silent;
    }));
  }
  std::vector<NodeFacts> nodes;
  nodes.reserve(looks.size());
  for (auto& each : looks) nodes.push_back(each.get());
  return nodes;
}

void print_table(std::ostream& out, const std::vector<NodeFacts>& nodes, const std::vector<Check>& checks,
                 const Options& options) {
  using report::Align;
  std::vector<std::vector<std::string>> rows;
  rows.reserve(checks.size());
  for (const Check& check : checks)
    rows.push_back({check.rule, check.node.empty() ? "fleet" : check.node, to_string(check.status), check.what});
  out << report::table({"rule", "node", "result", "found"}, std::vector(4, Align::kLeft), rows);
  if (!options.values) return;
  rows.clear();
  for (const NodeFacts& node : nodes) {
    for (const auto& [key, value] : node.values) rows.push_back({node.node, key, value});
  }
  out << "\n" << report::table({"node", "read", "value"}, std::vector(3, Align::kLeft), rows);
}

Json to_json(const std::vector<NodeFacts>& nodes, const std::vector<Check>& checks, const Options& options) {
  Json json = Json::object();
  json.set("schema_version", 1).set("tool", "fleet-audit").set("version", version()).set("commit", commit());
  Json rows = Json::array();
  for (const Check& check : checks)
    rows.push(Json::object()
                  .set("rule", check.rule)
                  .set("node", check.node.empty() ? Json() : Json(check.node))
                  .set("result", to_string(check.status))
                  .set("found", check.what));
  json.set("checks", std::move(rows));
  if (!options.values) return json;
  Json looks = Json::object();
  for (const NodeFacts& node : nodes) {
    Json values = Json::object();
    for (const auto& [key, value] : node.values) values.set(key, value);
    looks.set(node.node, std::move(values));
  }
  return json.set("values", std::move(looks));
}

ExitCode exit_of(const std::vector<Check>& checks) {
  const auto any = [&](Status status) {
    return std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return check.status == status; });
  };
  if (any(Status::kFail)) return ExitCode::kFailed;
  return any(Status::kUnknown) ? ExitCode::kInconclusive : ExitCode::kDone;
}

}  // namespace

Result<ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("fleet-audit", "Says whether the nodes of a fleet are set up to serve");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return ExitCode::kDone;
  BK_TRY(refuse_odd_words(options));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  const auto nodes = look_at_all(options);
  const auto checks = check_fleet(nodes, options.clock_mhz);
  if (options.common.format == "json") {
    output.stream() << to_json(nodes, checks, options).dump(2) << "\n";
  } else {
    print_table(output.stream(), nodes, checks, options);
  }
  BK_TRY(output.close());
  return exit_of(checks);
}

}  // namespace bk::fleet_audit
