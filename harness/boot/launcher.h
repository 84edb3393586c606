#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "boot/arm.h"
#include "boot/profile.h"
#include "engine/endpoint.h"

namespace bk::boot {

/// Whether a knob took effect in the running engine.
struct Proof {
  std::string knob;
  std::string asked;
  std::optional<std::string> confirmed;  ///< what the engine says; nothing when no evidence was found
  std::string evidence;                  ///< the log line, metric sample, variable or member that says so
  std::string reason;  ///< why not ok: "no_proof_declared", "no_evidence", "value_differs"; empty when ok
  bool ok = false;
};

/// What is known of one boot.
struct BootFacts {
  engine::Endpoint endpoint;  ///< carries the key; print it with describe()
  pid_t pid = -1;
  int port = 0;
  std::filesystem::path log_path;
  double boot_s = 0;                 ///< start of the process -> a generation answered
  std::vector<std::string> command;  ///< argv, secrets replaced by ***
  KnobMap confirmed;                 ///< knob -> what the engine confirmed; unproven knobs are absent
  std::vector<Proof> proofs;         ///< one for each knob that reaches the engine, in the profile's order
  Json fingerprint;                  ///< profile and arm hash, command, versions, host, kernel, CPU and GPU state

  [[nodiscard]] const Proof* proof_of(const std::string& knob) const;
};

/// A running engine. Destroying it stops it.
class Booted {
 public:
  virtual ~Booted() = default;
  [[nodiscard]] virtual const BootFacts& facts() const = 0;
  /// Ok while the process runs; else kVoid with its exit code and last log lines.
  [[nodiscard]] virtual Status alive() = 0;
  /// SIGTERM, SIGKILL after the profile's grace; returns when the port is free again. kEnvironment when it stays taken.
  /// A second call does nothing.
  virtual Status stop() = 0;
};

struct LaunchOptions {
  std::uint64_t seed = 1;
  int boot_index = 0;
  std::filesystem::path log_file;  ///< appended to; its directory is created
  std::filesystem::path bin_dir;   ///< empty: the directory of the running program
  int port = 0;                    ///< 0: the profile's, or a free one
  std::string api_key;  ///< given to the engine in the profile's API_KEY_ENV and to the endpoint; never shown
  std::function<bool()> interrupted;                 ///< asked while waiting; true gives kInterrupted
  std::function<void(const std::string&)> progress;  ///< one short line per stage, for a live display
};

/// Boots an arm of a profile and waits until a real generation answers, the model name is right and proofs were read.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// kEnvironment: the program is missing, the port is taken, the engine died (exit code and last log lines) or serves
  /// nothing in READY_TIMEOUT_S (kTimeout); kMismatch: another model or context length is served; kInterrupted.
  /// A missing proof is no error here: see BootFacts::proofs.
  [[nodiscard]] virtual Result<std::unique_ptr<Booted>> boot(const Profile& profile, const Arm& arm,
                                                             const LaunchOptions& options) = 0;
};

/// Runs the engine as a process of this machine, in a group of its own. It ends with the thread that calls boot(), also
/// when that is killed: boot from a thread that outlives the engine.
[[nodiscard]] std::unique_ptr<Launcher> make_process_launcher();

/// Runs the engine on the profile's NODES over ssh ("local" is this machine without ssh), each in a process or a
/// container. Everything is checked on every node before anything of an older boot is touched; then workers start, in
/// order, and the head last. It ends with this program, also when that is killed.
[[nodiscard]] std::unique_ptr<Launcher> make_fleet_launcher();

/// The launcher that a program uses: the one that the profile needs, one lane at a time. From the first boot of a
/// profile that is EXCLUSIVE to the launcher's end this machine's run lock in `lock_dir` is held, and the page cache is
/// dropped before each boot where the system allows it. A boot that fails for a reason worth it (retry_reason()) is
/// tried once more; the fingerprint of the second records it.
[[nodiscard]] std::unique_ptr<Launcher> make_launcher(std::filesystem::path lock_dir);

/// A port of `host` that nothing listens on at the moment. kEnvironment when the system gives none.
[[nodiscard]] Result<int> free_port(const std::string& host);
/// Ok when the port can be listened on; else kEnvironment naming the port and, where findable, its holder.
[[nodiscard]] Status check_port_free(const std::string& host, int port);

/// The key in variable `name` of this process, or in the file that `<name>_FILE` names (whitespace trimmed); empty when
/// neither is set. kIo when the file cannot be read.
[[nodiscard]] Result<std::string> read_key(const std::string& name, const Environment& caller);

}  // namespace bk::boot
