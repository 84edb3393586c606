#include "compile_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process.h"
#include "base/text.h"
#include "manifest/path.h"

namespace bk::overlay {
namespace {

/// Reads the release from its input and compiles from memory, so that no cache file comes to lie anywhere. One line:
/// "ok", or what is wrong: file, line and reason with a tab between them.
constexpr const char* kScript = R"py(
import io, sys, tarfile, warnings
warnings.simplefilter("ignore")
version = "Python %d.%d.%d" % sys.version_info[:3]
with tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read())) as files:
    for member in files:
        if not member.name.endswith(".py"):
            continue
        try:
            compile(files.extractfile(member).read(), member.name, "exec", dont_inherit=True)
        except Exception as error:
            line = getattr(error, "lineno", None) or 1
            reason = getattr(error, "msg", None) or str(error) or type(error).__name__
            print(member.name, line, "%s (%s)" % (" ".join(reason.split()), version), sep="\t")
            sys.exit(0)
print("ok")
)py";

std::string owner_of(const manifest::Composition& composition, const std::string& source) {
  const auto row = std::find_if(composition.rows.begin(), composition.rows.end(),
                                [&](const manifest::OwnedRow& owned) { return owned.row.source == source; });
  return row == composition.rows.end() ? std::string() : row->module;
}

}  // namespace

Status check_python_compiles(const manifest::Composition& composition, const Release& release,
                             const std::string& python) {
  const bool any = std::any_of(composition.files.begin(), composition.files.end(),
                               [](const manifest::ComposedFile& file) { return file.name.ends_with(".py"); });
  if (!any) return {};
  const char* way = "; name another by --python";
  const auto ran = run_captured({{python, "-I", "-c", kScript}, {}, "", ""}, 120 * kSecond, release.tar);
  if (!ran)
    return fail(Errc::kEnvironment, fmt::format("cannot compile the Python files: {}{}", ran.error().what, way),
                python);
  const auto said = split(trim(ran->out), '\t');
  if (ran->exit.ok() && said.front() == "ok") return {};
  if (ran->exit.ok() && said.size() == 3) {
    const std::string source(said[0]);
    return fail(Errc::kRefused,
                fmt::format("module {}: {} does not compile: {}; nothing was copied", owner_of(composition, source),
                            source, manifest::printable(said[2])),
                fmt::format("{}:{}", source, said[1]));
  }
  const auto lines = split_lines(ran->err);
  return fail(
      Errc::kEnvironment,
      fmt::format("cannot compile the Python files: {}{}",
                  lines.empty() ? fmt::format("exit code {}", ran->exit.code) : manifest::printable(lines.back()), way),
      python);
}

}  // namespace bk::overlay
