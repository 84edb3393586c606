#include "boot/container.h"

#include <fmt/format.h>

#include "base/text.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

constexpr const char* kAttest =
    "while IFS= read -r path; do "
    "if [ -L \"$path\" ]; then echo \"link  $path\"; "
    "elif [ -f \"$path\" ]; then sha256sum -- \"$path\"; "
    "elif [ -e \"$path\" ]; then echo \"other  $path\"; "
    "else echo \"absent  $path\"; fi; done";

std::string mount_flag(const std::string& source, const std::string& target, bool read_only) {
  return fmt::format("type=bind,source={},target={}{}", source, target, read_only ? ",readonly" : "");
}

}  // namespace

std::string container_name(const std::string& lane, int rank) { return fmt::format("bracketkit-{}-{}", lane, rank); }

std::vector<std::string> run_argv(const Container& container) {
  std::vector<std::string> argv = {to_string(container.cli), "run", "--rm", "--init", "--name", container.name};
  const auto add = [&argv](std::initializer_list<std::string> words) { argv.insert(argv.end(), words); };
  add({"--label", "bracketkit.lane=" + container.lane, "--label", "bracketkit.arm=" + container.arm});
  add({"--label", fmt::format("bracketkit.rank={}", container.rank), "--network", "host"});
  argv.insert(argv.end(), container.flags.begin(), container.flags.end());
  for (const std::string& mount : container.mounts) {
    const auto parts = split(mount, ':');
    add({"--mount", mount_flag(std::string(parts[0]), std::string(parts[1]), parts[2] == "ro")});
  }
  for (const manifest::Row& row : container.overlay) {
    if (!row.mounts()) continue;
    add({"--mount",
         mount_flag(container.overlay_dir + "/" + row.source, container.package_root + "/" + row.target, true)});
  }
  for (const auto& [name, value] : container.env) add({"--env", name + "=" + value});
  for (const std::string& name : container.secret_env) add({"--env", name});
  // The image's own entry point would put words before the engine's.
  add({"--entrypoint", container.command.front(), container.image});
  argv.insert(argv.end(), container.command.begin() + 1, container.command.end());
  return argv;
}

std::vector<std::string> stop_argv(Runtime cli, const std::string& name, int grace_s) {
  return {to_string(cli), "stop", "--time", std::to_string(grace_s), name};
}

std::vector<std::string> remove_argv(Runtime cli, const std::string& name) {
  return {to_string(cli), "rm", "--force", name};
}

std::vector<std::string> image_id_argv(Runtime cli, const std::string& image) {
  return {to_string(cli), "image", "inspect", "--format", "{{.Id}}", image};
}

std::vector<std::string> environment_argv(Runtime cli, const std::string& name) {
  return {to_string(cli), "exec", name, "cat", "/proc/1/environ"};
}

std::vector<std::string> list_argv(Runtime cli) {
  // podman's Labels is a map in a template, docker's a text with a Label function.
  const char* lane =
      cli == Runtime::kDocker ? "{{.Label \"bracketkit.lane\"}}" : "{{index .Labels \"bracketkit.lane\"}}";
  return {to_string(cli),
          "ps",
          "--all",
          "--filter",
          "label=bracketkit.lane",
          "--format",
          std::string("{{.Names}} ") + lane};
}

std::string complaint(const std::string& err) {
  std::string reason = "no reason given";
  for (const std::string_view line : split_lines(err)) {
    if (!trim(line).empty() && !line.starts_with("Run 'docker ")) reason = manifest::printable(trim(line));
  }
  return reason;
}

std::vector<std::string> throwaway_argv(Runtime cli, const std::string& image, const std::string& script) {
  return {to_string(cli), "run", "--rm", "--interactive", "--network", "none", "--entrypoint",
          "sh",           image, "-c",   script};
}

std::vector<std::string> attest_argv(Runtime cli, const std::string& image) {
  return throwaway_argv(cli, image, kAttest);
}

}  // namespace bk::boot
