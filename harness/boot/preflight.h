#pragma once
#include <memory>
#include <string>
#include <vector>

#include "boot/launcher.h"
#include "boot/session.h"
#include "manifest/parse.h"

namespace bk::boot {

/// What every node had to show before a boot, and what of it the boot uses.
struct Checked {
  std::string release;                 ///< of the deployed overlay; empty: the lane has none
  std::vector<manifest::Row> overlay;  ///< its rows
  std::string image_id;                ///< of the container image; empty: no container
};

/// The checks before a boot on nodes, in this order: the deployed manifest on the head, the image's id there against
/// the pinned one, the image's own files against every row (a throwaway container without mounts), the deployed files'
/// hash list; then on every other node the same id and the same hash text, byte for byte; on all, the folders that are
/// mounted, the files that the engine needs, no other lane's containers, and last the run lock. Nothing of an older
/// boot is touched. The first failure ends it: kMismatch, kEnvironment or kConnect with the node as the place.
class Preflight {
 public:
  Preflight(const Profile& profile, std::filesystem::path root_dir, std::vector<std::string> needed,
            std::function<bool()> interrupted)
      : profile_(profile),
        root_dir_(std::move(root_dir)),
        needed_(std::move(needed)),
        interrupted_(std::move(interrupted)) {}

  [[nodiscard]] Result<Checked> run();
  /// Removes what an older boot of this lane left on the nodes, and frees memory. Only after run().
  [[nodiscard]] Result<Json> clear(const std::string& pid_file);
  /// Waits until every rank after the head runs.
  [[nodiscard]] Status await_workers(const std::string& pid_file);
  /// The environment of the head's engine; empty when it cannot be read.
  [[nodiscard]] Environment head_environment(const std::string& pid_file);

  [[nodiscard]] const std::vector<std::string>& nodes() const { return nodes_; }
  /// The sessions that hold the run locks; they have to outlive the engine.
  [[nodiscard]] std::vector<std::unique_ptr<Session>> take_sessions() { return std::move(sessions_); }

 private:
  [[nodiscard]] bool in_container() const;
  [[nodiscard]] Status open();
  [[nodiscard]] Result<std::vector<Answer>> all(const std::string& request);
  [[nodiscard]] Result<std::vector<std::string>> head(const std::string& request);
  [[nodiscard]] Status check_image();
  [[nodiscard]] Status attest();
  [[nodiscard]] Status check_overlay();
  [[nodiscard]] Status check_folders();
  [[nodiscard]] Status check_other_lanes();

  const Profile& profile_;
  std::filesystem::path root_dir_;
  std::vector<std::string> needed_;  ///< needed_on_nodes()
  std::function<bool()> interrupted_;
  std::vector<std::string> nodes_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::string> hash_texts_;  ///< of the deployed files, by node
  Checked checked_;
};

/// What an image holds where a row's target goes, as attest_argv()'s lines: why it does not fit, first row first; empty
/// when all fit. Pure.
[[nodiscard]] std::string attestation_fault(const std::vector<manifest::Row>& rows, const std::string& root,
                                            const std::vector<std::string>& lines);

}  // namespace bk::boot
