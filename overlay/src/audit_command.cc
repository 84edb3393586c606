#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <system_error>

#include "audit.h"
#include "base/file.h"
#include "base/version.h"
#include "cli/output.h"
#include "commands.h"
#include "container_sources.h"
#include "report/table.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;
using cli::ExitCode;

std::set<std::string> wanted_names() {
  std::set<std::string> names;
  for (const GuardRule& rule : guard_rules()) names.insert(rule.files.begin(), rule.files.end());
  return names;
}

Result<std::vector<Finding>> audit_container(const Options& options) {
  const auto cli = options.container_cli == "docker" ? boot::Runtime::kDocker : boot::Runtime::kPodman;
  BK_ASSIGN(const auto files, container_sources(cli, options.audit_container, wanted_names()));
  return audit(files);
}

Result<std::vector<Finding>> audit_folder(const Options& options) {
  const fs::path root = options.audit_root;
  std::error_code error;
  if (!fs::is_directory(root, error)) return fail(Errc::kUsage, "--root names no folder of sources", root.string());
  const auto names = wanted_names();
  Sources sources;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!names.contains(it->path().filename().string()) || !it->is_regular_file(ignored)) continue;
    BK_ASSIGN(sources[it->path().string()], read_file(it->path()));
  }
  if (error) return fail(Errc::kIo, error.message(), root.string());
  auto findings = audit(sources);
  for (Finding& finding : findings) {
    if (!finding.file.empty()) finding.file = fs::path(finding.file).lexically_relative(root).string();
  }
  return findings;
}

ExitCode exit_of(const std::vector<Finding>& findings) {
  const auto any = [&](Guard guard) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.guard == guard; });
  };
  if (any(Guard::kFail)) return ExitCode::kFailed;
  return any(Guard::kUnknown) ? ExitCode::kInconclusive : ExitCode::kDone;
}

Json to_json(const std::vector<Finding>& findings) {
  Json json = Json::object();
  json.set("schema_version", 1).set("tool", "overlay audit").set("version", version()).set("commit", commit());
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json one = Json::object();
    one.set("rule", finding.rule).set("status", to_string(finding.guard)).set("why", finding.why);
    list.push(one.set("file", finding.file.empty() ? Json() : Json(finding.file)));
  }
  return json.set("rules", std::move(list));
}

std::string to_table(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(findings.size());
  for (const Finding& finding : findings) {
    rows.push_back({finding.rule, to_string(finding.guard), finding.file, finding.why});
  }
  return report::table({"rule", "status", "file", "why"}, std::vector(4, report::Align::kLeft), rows);
}

}  // namespace

Result<ExitCode> run_audit(cli::Streams& streams, const Options& options) {
  if (options.self_test) {
    BK_TRY(audit_self_test());
    streams.out << fmt::format("self-test: {} rules pass good sources and fail broken ones\n", guard_rules().size());
    return ExitCode::kDone;
  }
  if (options.audit_root.empty() == options.audit_container.empty()) {
    return fail(Errc::kUsage, "name the sources: --root DIR or --container NAME");
  }
  BK_ASSIGN(const auto findings, options.audit_root.empty() ? audit_container(options) : audit_folder(options));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  output.stream() << (options.common.format == "json" ? to_json(findings).dump(2) + "\n" : to_table(findings));
  BK_TRY(output.close());
  return exit_of(findings);
}

}  // namespace bk::overlay
