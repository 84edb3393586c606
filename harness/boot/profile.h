#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace bk::boot {

using Environment = std::map<std::string, std::string>;
using KnobMap = std::map<std::string, std::string>;

/// Where evidence for a knob is looked for once the engine runs.
struct ProofRule {
  enum class Kind {
    kNone,     ///< the profile declares no proof
    kLog,      ///< a line of the engine's log matches `text`; {VALUE} is what the engine confirms
    kMetric,   ///< a sample of the metrics page: `name{label="{VALUE}"}`, or `name{label="x"}={VALUE}`
    kEnviron,  ///< the variable `text` in the running process's environment
    kJson,     ///< `/path member.member`: a member of the JSON answer to GET /path
  };
  Kind kind = Kind::kNone;
  std::string text;
};

/// A named setting that an arm may set (syntax: profiles/README.md).
struct Knob {
  std::string name;
  std::string value;         ///< the profile's default, or the caller's environment; empty: not passed to the engine
  bool from_caller = false;  ///< true when `value` came from the caller's environment
  std::vector<std::string> values;              ///< what it may be; empty: see the bounds
  std::optional<double> min, max;               ///< numbers between them, both included, when set
  bool whole = true;                            ///< with bounds: whole numbers only
  bool any = false;                             ///< any text without blanks
  std::string under;                            ///< any path below this folder; empty: see the others
  std::string flag;                             ///< words appended to the command, {VALUE} replaced; empty: none
  std::map<std::string, std::string> flag_for;  ///< other words for one value
  std::string env;                              ///< variable that the engine reads; empty: none
  ProofRule proof;                              ///< holds {VALUE} (log, metric)
  std::map<std::string, ProofRule> proof_for;   ///< evidence whose mere presence proves this one value
  std::string when_knob;  ///< the knob is passed and proved only while this one has one of `when_values`; empty: always
  std::vector<std::string> when_values;
  std::string help;
  int line = 0;  ///< of the default, in the profile

  /// Whether the knob may have this value; the error names what is allowed.
  [[nodiscard]] Status check(const std::string& wanted) const;
  /// The one text of a value: numbers between bounds that are equal are one value ("0.1", "1e-1"), written as the
  /// profile writes it where it does; any other text stands as it is.
  [[nodiscard]] std::string canonical(const std::string& wanted) const;
  /// Whether it reaches the engine when the knobs have these values: it has one itself, and its condition holds.
  [[nodiscard]] bool active(const KnobMap& resolved) const;
};

/// What must hold between knobs, `RULE.<name>=`: at least one clause.
struct Relation {
  using Sum = std::vector<std::vector<std::string>>;  ///< products added up; a factor is a knob, a number or a word
  struct Clause {
    Sum left;
    std::string comparison;  ///< = != < <= > >=
    Sum right;
  };
  std::string name;
  std::string text;  ///< as written
  std::string why;   ///< what happens otherwise
  std::vector<Clause> any_of;
};

/// What an engine runs in.
enum class Runtime {
  kProcess,    ///< a plain process
  kNamespace,  ///< a process whose private mount namespace shows the overlay over the package, read-only
  kDocker,     ///< a container, by docker's command line
  kPodman,     ///< a container, by podman's command line
};

[[nodiscard]] const char* to_string(Runtime runtime);

/// How one engine is booted: `profiles/<name>.env`, parsed, defaults and the caller's environment applied.
struct Profile {
  std::string name;
  std::filesystem::path path;
  std::string command;  ///< argv template, not yet cut into words
  std::string host = "127.0.0.1";
  int port = 0;                            ///< 0: a free one is taken at each boot
  std::string served_model;                ///< name that /v1/models must list; empty: whatever is served first
  std::optional<int> max_model_len;        ///< tokens; compared when the server reports its own
  double ready_timeout_s = 120;            ///< from start until a generation answered
  double stop_grace_s = 10;                ///< from SIGTERM to SIGKILL
  std::optional<double> foreign_load_max;  ///< share of the cores, 0..1, that others may use; more voids a leg
  std::string metrics = "/metrics";        ///< path on the engine's port, or a URL
  std::string api_key_env;                 ///< variable in which the engine expects its key; empty: it takes none
  std::string engine_version_log;    ///< regex whose group 1 is the engine's version, where /version does not exist
  std::vector<std::string> modules;  ///< overlay modules, in order; empty: the engine runs as it was installed
  std::string target_prefix;  ///< template of the package root that the modules' targets lie below; may hold {ROOT}
  Runtime runtime = Runtime::kProcess;
  std::vector<std::string> served_aliases;  ///< further names that /v1/models must list
  std::string worker_command;               ///< argv template of the ranks after the head; empty: `command`
  std::string container_flags;              ///< words for docker's or podman's run; not yet cut
  std::string image;                        ///< container image, by name and tag; empty: the runtime is no container
  std::string image_id;                     ///< "sha256:…" that the image must have on every node; empty: not pinned
  std::vector<std::string> mounts;          ///< HOST:CONTAINER:ro or :rw, in order
  std::vector<std::string> needs;  ///< paths as the engine sees them that must be there before a boot; may hold {ROOT}
  std::vector<std::string> nodes;  ///< ssh destinations, the head first; empty: this machine
  std::string deploy_dir = "/opt/bracketkit/deploy";  ///< on every node; overlays lie in <deploy_dir>/<profile>/current
  std::string ssh_config;  ///< template of ssh's configuration file; may hold {ROOT}; empty: the user's
  bool exclusive = true;   ///< boots hold the run lock of every node
  std::vector<std::string> gates = {
      "check-quality"};  ///< of gate_names(), leg_settings.h: what a bracket asks in each boot
  std::string install;   ///< what installs the engine; named when its program is missing
  std::string help;
  Environment env;          ///< engine environment: ENV.* and EXTRA_ENV
  std::vector<Knob> knobs;  ///< in the order of the file
  std::vector<Relation> relations;

  [[nodiscard]] const Knob* find(std::string_view knob) const;
  [[nodiscard]] std::vector<std::string> knob_names() const;
};

/// The text of a profile. Pure: the only environment seen is `caller`. kUsage with "path:row" as the place, for
/// every way in which the text breaks the format.
[[nodiscard]] Result<Profile> parse_profile(std::string_view text, const std::string& path, const Environment& caller);

/// A profile by name (`<dir>/<name>.env`) or by path (anything with a slash or ending in .env). A missing one gives
/// kUsage with the names that exist.
[[nodiscard]] Result<Profile> load_profile(const std::string& name_or_path, const std::filesystem::path& dir,
                                           const Environment& caller);

/// The environment of this process.
[[nodiscard]] Environment caller_environment();

/// The directory of profiles: BK_PROFILES when set, else profiles/ in the working directory or above, else beside the
/// running program (../share/bracketkit/profiles, or a source tree above it).
[[nodiscard]] std::filesystem::path default_profile_dir();

/// Every setting that shapes a boot, one a line, sorted, free of machine paths and keys.
[[nodiscard]] std::string canonical_text(const Profile& profile);
/// SHA-256 of canonical_text().
[[nodiscard]] std::string profile_hash(const Profile& profile);

}  // namespace bk::boot
