#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "boot/profile.h"

extern char** environ;

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> profiles_in(const fs::path& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".env") names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// profiles/ in `start` or the nearest directory above it; empty when none has one.
fs::path profiles_above(const fs::path& start) {
  std::error_code error;
  for (fs::path dir = start; !dir.empty(); dir = dir.parent_path()) {
    if (fs::is_directory(dir / "profiles", error)) return dir / "profiles";
    if (dir == dir.root_path()) break;
  }
  return {};
}

const char* kind_name(ProofRule::Kind kind) {
  switch (kind) {
    case ProofRule::Kind::kNone:
      return "none";
    case ProofRule::Kind::kLog:
      return "log";
    case ProofRule::Kind::kMetric:
      return "metric";
    case ProofRule::Kind::kEnviron:
      return "environ";
    case ProofRule::Kind::kJson:
      return "json";
  }
  return "none";
}

void add_knob(const Knob& knob, std::vector<std::string>& lines) {
  const auto add = [&](const std::string& attribute, const std::string& value) {
    if (!value.empty()) lines.push_back(fmt::format("{}{}={}", knob.name, attribute, value));
  };
  lines.push_back(fmt::format("{}={}", knob.name, knob.value));
  add(".values", join(knob.values, " "));
  if (knob.min) add(".range", fmt::format("{}..{}{}", *knob.min, *knob.max, knob.whole ? "" : " fractions"));
  if (knob.any) add(".any", "yes");
  add(".under", knob.under);
  if (!knob.when_knob.empty()) add(".when", knob.when_knob + "=" + join(knob.when_values, " "));
  add(".env", knob.env);
  add(".flag", knob.flag);
  for (const auto& [value, words] : knob.flag_for)
    lines.push_back(fmt::format("{}.flag.{}={}", knob.name, value, words));
  if (knob.proof.kind != ProofRule::Kind::kNone)
    add(".proof", fmt::format("{}: {}", kind_name(knob.proof.kind), knob.proof.text));
  for (const auto& [value, rule] : knob.proof_for)
    add(".proof." + value, fmt::format("{}: {}", kind_name(rule.kind), rule.text));
}

}  // namespace

Environment caller_environment() {
  Environment found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

fs::path default_profile_dir() {
  const Environment caller = caller_environment();
  if (const auto named = caller.find("BK_PROFILES"); named != caller.end()) return named->second;
  std::error_code error;
  if (fs::path near = profiles_above(fs::current_path(error)); !near.empty()) return near;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path installed = program.parent_path().parent_path() / "share/bracketkit/profiles";
  if (fs::is_directory(installed, error)) return installed;
  const fs::path above = profiles_above(program.parent_path());
  return above.empty() ? fs::path("profiles") : above;
}

Result<Profile> load_profile(const std::string& name_or_path, const fs::path& dir, const Environment& caller) {
  const bool is_path = name_or_path.find('/') != std::string::npos || fs::path(name_or_path).extension() == ".env";
  const fs::path path = is_path ? fs::path(name_or_path) : dir / (name_or_path + ".env");
  std::error_code error;
  if (!fs::exists(path, error)) {
    const auto names = profiles_in(is_path ? path.parent_path() : dir);
    const auto near = nearest(is_path ? path.stem().string() : name_or_path, names);
    return fail(Errc::kUsage,
                fmt::format("no profile {}{}", name_or_path,
                            near            ? "; did you mean " + *near + "?"
                            : names.empty() ? "; no profiles lie in " + fs::absolute(path.parent_path(), error).string()
                                            : "; there are " + join(names, ", ")),
                path.string());
  }
  BK_ASSIGN(const std::string text, read_file(path));
  return parse_profile(text, path.string(), caller);
}

std::string canonical_text(const Profile& profile) {
  std::vector<std::string> lines = {
      "COMMAND=" + profile.command,
      "HOST=" + profile.host,
      fmt::format("PORT={}", profile.port),
      "SERVED_MODEL=" + profile.served_model,
      fmt::format("MAX_MODEL_LEN={}", profile.max_model_len.value_or(0)),
      "METRICS=" + profile.metrics,
      "API_KEY_ENV=" + profile.api_key_env,
  };
  if (!profile.modules.empty()) {
    lines.push_back("MODULES=" + join(profile.modules, " "));
    lines.push_back("TARGET_PREFIX=" + profile.target_prefix);
    lines.push_back(fmt::format("RUNTIME={}", to_string(profile.runtime)));
  }
  if (!profile.image.empty()) {
    lines.push_back("IMAGE=" + profile.image);
    lines.push_back("IMAGE_ID=" + profile.image_id);
    lines.push_back("MOUNTS=" + join(profile.mounts, " "));
    lines.push_back("CONTAINER_FLAGS=" + profile.container_flags);
  }
  if (!profile.nodes.empty()) {
    lines.push_back(fmt::format("NODES={}", profile.nodes.size()));
    lines.push_back("WORKER_COMMAND=" + profile.worker_command);
  }
  for (const auto& [name, value] : profile.env) lines.push_back(fmt::format("ENV.{}={}", name, value));
  for (const Knob& knob : profile.knobs) add_knob(knob, lines);
  std::sort(lines.begin(), lines.end());
  return "bracketkit profile 1\n" + profile.name + "\n" + join(lines, "\n") + "\n";
}

std::string profile_hash(const Profile& profile) { return sha256_hex(canonical_text(profile)); }

}  // namespace bk::boot
