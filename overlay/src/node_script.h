#pragma once

namespace bk::overlay {

/// The shell script that a deploy or a status talks to on each node (POSIX sh, coreutils, tar, flock). Its arguments:
/// the deploy folder, the profile, the run lock's file, who asks. Its requests, one a line, each answered by lines and
/// a closing "ok" or "no REASON":
///   look             release, commit, intact or the first changed file, an unfinished deploy, who deploys, which lane
///   runs lock             takes the node for one deploy, and rolls an unfinished older one back stage ID BYTES
///   followed by the tar: unpacks it beside what is deployed, and prints its hash list activate ID      makes it the
///   deployed release, remembering the former, and prints its hash list as deployed commit           forgets how to
///   roll back by itself revert           goes back to the former release after all done             ends well and
///   removes releases older than the former
/// At the end of its input before commit, however that end came, it puts the former release back.
[[nodiscard]] const char* node_script();

}  // namespace bk::overlay
