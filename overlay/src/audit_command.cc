#include <fmt/format.h>

#include <algorithm>
#include <map>
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
using Source = std::optional<std::pair<std::string, std::string>>;

/// All files of that name below the root as one text: a guard may stand in any of them. The path is the first one's.
Result<Source> find_below(const fs::path& root, const std::vector<std::string>& names) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const bool wanted = std::find(names.begin(), names.end(), it->path().filename().string()) != names.end();
    std::error_code ignored;
    if (wanted && it->is_regular_file(ignored)) found.push_back(it->path());
  }
  if (error) return fail(Errc::kIo, error.message(), root.string());
  if (found.empty()) return Source();
  std::sort(found.begin(), found.end());
  std::string text;
  for (const fs::path& path : found) {
    BK_ASSIGN(const std::string bytes, read_file(path));
    text.append(bytes).append("\n");
  }
  return Source({fs::relative(found.front(), root, error).string(), std::move(text)});
}

/// The same among files by path.
Source find_among(const std::map<std::string, std::string>& files, const std::vector<std::string>& names) {
  Source source;
  for (const auto& [path, bytes] : files) {
    if (std::find(names.begin(), names.end(), fs::path(path).filename().string()) == names.end()) continue;
    if (!source) source.emplace(path, "");
    source->second.append(bytes).append("\n");
  }
  return source;
}

Result<std::vector<Finding>> audit_container(const Options& options) {
  std::set<std::string> names;
  for (const GuardRule& rule : guard_rules()) names.insert(rule.files.begin(), rule.files.end());
  const auto cli = options.container_cli == "docker" ? boot::Runtime::kDocker : boot::Runtime::kPodman;
  BK_ASSIGN(const auto files, container_sources(cli, options.audit_container, names));
  return audit([&](const auto& wanted) -> Result<Source> { return find_among(files, wanted); });
}

Result<std::vector<Finding>> audit_folder(const Options& options) {
  std::error_code error;
  if (!fs::is_directory(options.audit_root, error)) {
    return fail(Errc::kUsage, "--root names no folder of sources", options.audit_root);
  }
  return audit([&](const auto& names) { return find_below(options.audit_root, names); });
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
