#pragma once
#include <map>
#include <string>
#include <vector>

#include "boot/profile.h"
#include "manifest/parse.h"

namespace bk::boot {

/// One engine in one container, as the command line of docker or podman says it.
struct Container {
  Runtime cli = Runtime::kDocker;
  std::string name;                        ///< of container_name()
  std::string image;                       ///< name:tag, or an id
  std::string lane;                        ///< the profile: label bracketkit.lane
  std::string arm;                         ///< label bracketkit.arm
  int rank = 0;                            ///< label bracketkit.rank
  std::vector<std::string> flags;          ///< the profile's CONTAINER_FLAGS, as words
  std::vector<std::string> mounts;         ///< HOST:CONTAINER:ro or :rw
  std::string overlay_dir;                 ///< folder that holds the rows' sources; empty: no overlay
  std::string package_root;                ///< absolute, in the image
  std::vector<manifest::Row> overlay;      ///< rows that mount, in the manifest's order
  std::map<std::string, std::string> env;  ///< given on the command line
  std::vector<std::string> secret_env;     ///< passed on by name: their values appear in no command line
  std::vector<std::string> command;        ///< argv of the engine
};

/// "bracketkit-<lane>-<rank>".
[[nodiscard]] std::string container_name(const std::string& lane, int rank);

/// argv that runs it in the foreground: removed when it ends, on the host's network, an init process inside. The
/// overlay is bound file by file, read-only, after the profile's own mounts, so that nothing can lie over it.
[[nodiscard]] std::vector<std::string> run_argv(const Container& container);

/// argv that stops it: a signal, and after `grace_s` (whole seconds) the kill.
[[nodiscard]] std::vector<std::string> stop_argv(Runtime cli, const std::string& name, int grace_s);
/// argv that removes it, running or not.
[[nodiscard]] std::vector<std::string> remove_argv(Runtime cli, const std::string& name);
/// argv that prints the image's id.
[[nodiscard]] std::vector<std::string> image_id_argv(Runtime cli, const std::string& image);
/// argv that prints the environment of the container's first process, entries ended by NUL: what the command line's own
/// process has is another one.
[[nodiscard]] std::vector<std::string> environment_argv(Runtime cli, const std::string& name);
/// argv that lists containers of any lane, "name lane" a line.
[[nodiscard]] std::vector<std::string> list_argv(Runtime cli);
/// The line of a command line's complaint that gives the reason: the last one but for docker's pointer to its help.
/// "no reason given" when there is none.
[[nodiscard]] std::string complaint(const std::string& err);
/// argv of a throwaway container without any mount, network or entry point of the image, that runs a shell script over
/// its input: what it sees is the image's own.
[[nodiscard]] std::vector<std::string> throwaway_argv(Runtime cli, const std::string& image, const std::string& script);
/// argv of a throwaway container that reads paths from its input and prints for each its SHA-256,
/// or that it is absent, a link or something else: a mount would hide what the image itself holds.
[[nodiscard]] std::vector<std::string> attest_argv(Runtime cli, const std::string& image);

}  // namespace bk::boot
