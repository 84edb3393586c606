#include "container_sources.h"

#include "base/process.h"
#include "base/text.h"
#include "boot/container.h"
#include "hex.h"

namespace bk::overlay {
namespace {

constexpr const char* kInterpreters[] = {"/opt/venv/bin/python3", "python3", "python"};

/// One line a file: path, tab, bytes in hex.
constexpr const char* kScript = R"py(
import os, sys, sysconfig
roots = ["/opt", "/usr/local/lib", "/usr/lib/python3", "/workspace", "/vllm-workspace", "/app", "/srv", "/root"]
roots += [p for p in (sysconfig.get_paths().get(k) for k in ("purelib", "platlib")) if p]
names, seen = set(sys.argv[1:]), set()
for root in roots:
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.realpath(os.path.join(folder, name))
            if name not in names or path in seen or not path.isprintable() or not os.path.isfile(path):
                continue
            seen.add(path)
            with open(path, "rb") as file:
                print(path, file.read(1 << 24).hex(), sep="\t")
)py";

Status check_runs(boot::Runtime cli, const std::string& container) {
  const std::string program = boot::to_string(cli);
  const auto ran = run_captured(
      {{program, "inspect", "--type", "container", "--format", "{{.State.Running}}", container}, {}, "", ""},
      30 * kSecond);
  if (!ran) return fail(Errc::kEnvironment, ran.error().what, program);
  if (ran->exit.ok() && trim(ran->out) == "true") return {};
  return fail(Errc::kEnvironment, ran->exit.ok() ? "the container does not run" : boot::complaint(ran->err),
              program + " " + container);
}

}  // namespace

std::vector<std::string> look_argv(boot::Runtime cli, const std::string& container, const std::string& interpreter,
                                   const std::set<std::string>& names) {
  std::vector<std::string> argv = {boot::to_string(cli), "exec", container, interpreter, "-I", "-c", kScript};
  argv.insert(argv.end(), names.begin(), names.end());
  return argv;
}

Result<std::map<std::string, std::string>> read_look(const std::string& out) {
  std::map<std::string, std::string> found;
  for (const std::string_view line : split_lines(out)) {
    const std::size_t tab = line.find('\t');
    auto bytes = tab == std::string_view::npos ? std::nullopt : from_hex(line.substr(tab + 1));
    if (!bytes) return fail(Errc::kParse, "what the look in the container printed cannot be read");
    found.emplace(line.substr(0, tab), std::move(*bytes));
  }
  return found;
}

Result<std::map<std::string, std::string>> container_sources(boot::Runtime cli, const std::string& container,
                                                             const std::set<std::string>& names) {
  BK_TRY(check_runs(cli, container));
  std::map<std::string, std::string> all;
  bool answered = false;
  std::string reason;
  for (const char* interpreter : kInterpreters) {
    const auto ran = run_captured({look_argv(cli, container, interpreter, names), {}, "", ""}, 300 * kSecond);
    if (!ran) return fail(Errc::kEnvironment, ran.error().what, container);
    if (!ran->exit.ok()) {
      reason = boot::complaint(ran->err);
      continue;
    }
    BK_ASSIGN(auto found, read_look(ran->out));
    all.merge(found);
    answered = true;
  }
  if (answered) return all;
  return fail(Errc::kEnvironment, "no Python of the container answers: " + reason, container);
}

}  // namespace bk::overlay
