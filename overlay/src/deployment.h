#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "boot/session.h"
#include "boot/ssh.h"
#include "release.h"

namespace bk::overlay {

/// Where a lane's overlay lies on its nodes.
struct Fleet {
  boot::Ssh ssh;
  std::vector<std::string> nodes;  ///< the first is the head
  std::string deploy_dir;          ///< absolute, the same on every node
  std::string profile;
  std::string run_lock;  ///< the run lock's file on every node
};

/// What a node says of itself.
struct NodeState {
  std::string node;
  std::string release;           ///< id of the deployed release; empty: none
  std::string commit;            ///< of that release; empty when it names none
  bool intact = true;            ///< its files hash to its id
  std::string changed;           ///< the first file that does not; may be empty when not intact
  std::string pending;           ///< a release whose deploy did not end; empty: none
  std::string deploying;         ///< who holds the deploy lock; empty: nobody
  std::vector<std::string> run;  ///< lines of the run lock; empty: no lane runs
};
/// Reads the lines of a `look` or `lock`. Pure.
[[nodiscard]] NodeState read_state(const std::string& node, const std::vector<std::string>& lines);

/// Opens a session with every node.
[[nodiscard]] Result<std::vector<std::unique_ptr<boot::Session>>> open_sessions(const Fleet& fleet,
                                                                                const std::string& who);

/// What a deploy did.
struct Deployed {
  std::vector<NodeState> before;
  bool changed = false;  ///< false: every node had this release already, intact
};

/// Puts a release on all nodes or on none. Nodes are locked (the first by name, then the others, so that of two deploys
/// one gets all), `allow` judges what is deployed there, every node unpacks beside it and hashes, and only when all
/// hash texts equal the release's byte for byte does one after the other become active; any failure until the last node
/// committed puts all back. A node does so by itself when this program ends in the middle, also by kill -9.
/// Errors name the node: kConnect (nothing was changed anywhere), kMismatch (hash text differs, or a deployed file was
/// changed by hand), kRefused from `allow`, kEnvironment for a lock that is held, kInterrupted.
class Deployment {
 public:
  using Allow = std::function<Status(const NodeState&)>;
  using Note = std::function<void(const std::string&)>;
  Deployment(const Fleet& fleet, const Release& release, std::string who, std::function<bool()> interrupted, Note note)
      : fleet_(fleet),
        release_(release),
        who_(std::move(who)),
        interrupted_(std::move(interrupted)),
        note_(std::move(note)) {}
  [[nodiscard]] Result<Deployed> run(const Allow& allow);

 private:
  using Check = std::function<Status(const std::string& node, const std::vector<std::string>& lines)>;
  [[nodiscard]] Status each(const std::vector<boot::Session*>& sessions, const std::string& request,
                            const Check& check);
  [[nodiscard]] Status lock_all();
  [[nodiscard]] Status same_hashes(const std::string& node, const std::vector<std::string>& lines,
                                   const char* when) const;
  [[nodiscard]] Status put_everywhere();
  [[nodiscard]] Status commit_everywhere();
  [[nodiscard]] Error undo(Error error);
  [[nodiscard]] std::vector<boot::Session*> all() const;

  const Fleet& fleet_;
  const Release& release_;
  std::string who_;
  std::function<bool()> interrupted_;
  Note note_;
  std::vector<std::unique_ptr<boot::Session>> sessions_;
  Deployed done_;
};

}  // namespace bk::overlay
