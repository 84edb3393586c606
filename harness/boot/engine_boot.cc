#include "boot/engine_boot.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "boot/fingerprint.h"
#include "boot/log_pattern.h"
#include "boot/proofs.h"
#include "boot/readiness.h"
#include "engine/body.h"
#include "engine/metrics_client.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

/// The last non-empty lines from byte `from` on, joined to one line for an error.
std::string log_tail(const fs::path& log, std::size_t from, const std::vector<std::string>& secrets) {
  constexpr std::size_t kLines = 6;
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kBytes = 1U << 16U;
  const std::size_t size = log_size(log);
  const std::string text = read_tail(log, std::min(kBytes, size > from ? size - from : 0)).value_or("");
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) {
    if (!trim(line).empty()) lines.emplace_back(trim(line).substr(0, kLongest));
  }
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return lines.empty() ? "it wrote nothing" : "its last lines: " + redact(join(lines, " | "), secrets);
}

/// A host that everybody listens on is reached over loopback.
std::string reachable(const std::string& host) { return host == "0.0.0.0" ? "127.0.0.1" : host; }

}  // namespace

EngineBoot::EngineBoot(const Profile& profile, LaunchOptions options, std::unique_ptr<Running> running, BootFacts facts,
                       std::size_t log_start)
    : profile_(profile),
      options_(std::move(options)),
      running_(std::move(running)),
      facts_(std::move(facts)),
      log_start_(log_start) {
  if (!options_.api_key.empty()) secrets_.push_back(options_.api_key);
  facts_.pid = running_->pid();
}

EngineBoot::~EngineBoot() { (void)stop().has_value(); }

Status EngineBoot::alive() {
  const auto ended = running_->ended();
  if (!ended) return {};
  return fail(Errc::kVoid,
              fmt::format("the engine died, {}; {}", *ended, log_tail(facts_.log_path, log_start_, secrets_)),
              facts_.log_path.string());
}

Status EngineBoot::stop() {
  if (std::exchange(stopped_, true)) return {};
  return running_->stop(from_s(profile_.stop_grace_s));
}

Status EngineBoot::become_ready(http::Transport& transport, const Arm& arm, Nanos started) {
  const auto check = [this]() -> Status {
    if (options_.interrupted && options_.interrupted())
      return fail(Errc::kInterrupted, "interrupted while the engine booted");
    if (auto status = alive(); !status) return fail(Errc::kEnvironment, status.error().what, status.error().where);
    return {};
  };
  const auto ready =
      wait_until_ready(transport, profile_, started + from_s(profile_.ready_timeout_s), check, facts_.endpoint);
  if (!ready) {
    Error error = ready.error();
    if (error.code == Errc::kTimeout) error.what += "; " + log_tail(facts_.log_path, log_start_, secrets_);
    return fail(std::move(error));
  }
  facts_.boot_s = to_s(monotonic_now() - started);
  report("ready");
  collect_proofs(transport, arm);
  facts_.fingerprint.set("boot_s", facts_.boot_s).set("model", facts_.endpoint.model);
  set_engine_version(transport);
  return {};
}

void EngineBoot::report(const std::string& stage) const {
  if (options_.progress) options_.progress(stage);
}

std::string EngineBoot::log_text() const {
  const std::string text = read_file(facts_.log_path).value_or("");
  return text.substr(std::min(log_start_, text.size()));
}

Result<Json> EngineBoot::get_json(http::Transport& transport, const std::string& path) const {
  BK_ASSIGN(const auto answer, http::fetch(transport, engine::plain_request(facts_.endpoint, path)));
  if (answer.status != 200) return fail(Errc::kHttp, fmt::format("HTTP {}", answer.status), path);
  return parse_json(answer.body);
}

/// A log line may reach its file a little after the first answer: missing ones are looked for again for a second.
void EngineBoot::collect_proofs(http::Transport& transport, const Arm& arm) {
  SystemClock clock;
  const Nanos limit = clock.now() + kSecond;
  Evidence evidence;
  evidence.environ = running_->environment();
  if (auto page = engine::fetch_metrics(transport, facts_.endpoint)) evidence.metrics = std::move(*page);
  evidence.get_json = [&](const std::string& path) { return get_json(transport, path); };
  while (true) {
    evidence.log = log_text();
    facts_.proofs = read_proofs(profile_, arm, evidence);
    const bool missing = std::any_of(facts_.proofs.begin(), facts_.proofs.end(),
                                     [](const Proof& p) { return p.reason == "no_evidence"; });
    if (!missing || clock.now() >= limit) break;
    clock.sleep_until(clock.now() + 100 * kMillisecond);
  }
  for (Proof& proof : facts_.proofs) {
    proof.evidence = redact(proof.evidence, secrets_);
    if (proof.confirmed) facts_.confirmed[proof.knob] = redact(*proof.confirmed, secrets_);
  }
}

void EngineBoot::set_engine_version(http::Transport& transport) {
  if (const auto answer = get_json(transport, "/version"); answer && (*answer)["version"].as_string()) {
    facts_.fingerprint.set("engine_version", (*answer)["version"]);
    return;
  }
  std::smatch match;
  const std::string log = log_text().substr(0, 1U << 16U);
  for (const std::string_view line : split_lines(log)) {
    const std::string text(line.substr(0, 2000));
    if (profile_.engine_version_log.empty() ||
        !std::regex_search(text, match, std::regex(log_pattern(profile_.engine_version_log))))
      continue;
    facts_.fingerprint.set("engine_version", match.size() > 1 ? match[1].str() : match[0].str());
    return;
  }
  facts_.fingerprint.set("engine_version", Json()).set("engine_version_reason", "not_reported");
}

std::string exit_text(const Exit& exit) {
  return exit.code > 128 ? fmt::format("ended by signal {}", exit.code - 128) : fmt::format("exit code {}", exit.code);
}

fs::path bin_dir_of(const LaunchOptions& options) {
  if (!options.bin_dir.empty()) return fs::absolute(options.bin_dir);
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path root_of(const Profile& profile) { return fs::absolute(profile.path).parent_path().parent_path(); }

std::size_t log_size(const fs::path& log) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(log, error);
  return error ? 0 : static_cast<std::size_t>(size);
}

BootFacts facts_before_start(const Profile& profile, const Arm& arm, const Command& command,
                             const LaunchOptions& options, int port) {
  const std::vector<std::string> secrets =
      options.api_key.empty() ? std::vector<std::string>{} : std::vector{options.api_key};
  BootFacts facts;
  facts.fingerprint = configuration(profile, arm, command, secrets);
  facts.fingerprint.set("seed", static_cast<std::int64_t>(options.seed)).set("boot_index", options.boot_index);
  facts.fingerprint.set("host", machine_state());
  facts.port = port;
  facts.log_path = command.output_file;
  facts.command = redacted_argv(command.argv, secrets);
  facts.endpoint.base_url = fmt::format("http://{}:{}", reachable(profile.host), port);
  facts.endpoint.metrics_url = profile.metrics[0] == '/' ? facts.endpoint.base_url + profile.metrics : profile.metrics;
  facts.endpoint.api_key = options.api_key;
  return facts;
}

}  // namespace bk::boot
