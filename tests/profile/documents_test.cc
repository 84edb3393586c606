#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <set>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "boot/profile.h"

namespace bk {
namespace {

namespace fs = std::filesystem;
const std::string kRoot = BK_SOURCE_DIR;

/// The pages of the repository, build outputs and other people's texts left out.
std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (auto it = fs::recursive_directory_iterator(kRoot); it != fs::recursive_directory_iterator(); ++it) {
    const std::string name = it->path().filename();
    if (it->is_directory() && (name == "build" || name == "fixtures" || name.starts_with('.')))
      it.disable_recursion_pending();
    if (it->is_regular_file() && it->path().extension() == ".md") found.push_back(it->path());
  }
  return found;
}

/// Every name that some shipped profile declares: settings aside, since any profile may have them.
std::set<std::string> declared_names() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRoot + "/profiles")) {
    if (entry.path().extension() != ".env") continue;
    const auto profile = boot::load_profile(entry.path(), kRoot, {});
    REQUIRE(profile);
    for (const boot::Knob& knob : profile->knobs) {
      names.insert(knob.name);
      if (!knob.env.empty()) names.insert(knob.env);
    }
    for (const auto& [name, value] : profile->env) names.insert(name);
  }
  return names;
}

/// Names that an `EXTRA_ENV=` of the text sets although a profile declares them.
std::vector<std::string> misuses(const std::string& text, const std::set<std::string>& declared) {
  static const std::regex kAssignment(R"re(EXTRA_ENV=(?:"([^"]*)"|'([^']*)'|([^\s`]*)))re");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), kAssignment), end; it != end; ++it) {
    const std::string value = (*it)[1].str() + (*it)[2].str() + (*it)[3].str();
    for (const std::string_view piece : split(value, ' ')) {
      const std::string name(piece.substr(0, piece.find('=')));
      if (declared.contains(name)) found.push_back(name);
    }
  }
  return found;
}

/// Commands of the ```sh blocks, continued lines joined, comments cut.
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> commands;
  bool inside = false;
  std::string pending;
  for (const std::string_view raw : split_lines(page)) {
    if (raw.starts_with("```")) {
      inside = !inside && raw.starts_with("```sh");
      continue;
    }
    if (!inside) continue;
    std::string line(raw.substr(0, std::min(raw.find(" #"), raw.size())));
    const bool continues = line.ends_with('\\');
    if (continues) line.back() = ' ';
    pending += line;
    if (continues) continue;
    if (!trim(pending).empty() && !pending.starts_with('#')) commands.emplace_back(trim(pending));
    pending.clear();
  }
  return commands;
}

Captured shell(const std::string& command, const fs::path& cwd) {
  Command c;
  c.argv = {"sh", "-c", command};
  c.env = {{"PATH", std::string(BK_BIN_DIR) + ":/usr/bin:/bin:/usr/sbin:/sbin"},
           {"BK_PROFILES", kRoot + "/profiles"},
           {"BK_LOCK_DIR", (cwd / "locks").string()}};
  c.cwd = cwd;
  const auto captured = run_captured(c, 120 * kSecond);
  REQUIRE(captured);
  return *captured;
}

}  // namespace

TEST_CASE("no page sets a declared key through EXTRA_ENV") {
  const auto declared = declared_names();
  REQUIRE(declared.size() > 30);
  CHECK(misuses("EXTRA_ENV=\"A=1 GATEFUSE=1\" x", declared) == std::vector<std::string>{"GATEFUSE"});
  CHECK(misuses("`EXTRA_ENV=VLLM_USE_V2_MODEL_RUNNER=0`", declared).size() == 1);
  CHECK(misuses("EXTRA_ENV='NCCL_DEBUG=INFO' GATEFUSE=1 x", declared).empty());
  int read = 0;
  for (const fs::path& page : pages()) {
    ++read;
    INFO(page);
    CHECK(misuses(read_file(page).value(), declared) == std::vector<std::string>{});
  }
  CHECK(read > 5);
}

TEST_CASE("every command of the runbook runs: measurements and watches as dry runs, the rest as it stands") {
  const std::string page = read_file(kRoot + "/RUNBOOK.md").value();
  const TempDir dir;
  int dry = 0, whole = 0;
  for (std::string command : commands_of(page)) {
    INFO(command);
    bool measures = command.starts_with("supervisor ");
    for (const char* boots : {"bracket run ", "bracket matrix ", "bracket sweep "}) {
      measures = measures || command.starts_with(boots);
    }
    if (measures && command.find("--dry-run") == std::string::npos) command += " --dry-run";
    const Captured ran = shell(command, dir.path());
    INFO(ran.out << ran.err);
    // A look at this machine may find faults (1) or know nothing (4); a refusal (2) or a breakdown (3) it may not be.
    const bool looks = command.starts_with("fleet-audit ");
    CHECK((ran.exit.code == 0 || (looks && (ran.exit.code == 1 || ran.exit.code == 4))));
    ++(measures ? dry : whole);
  }
  CHECK(dry >= 20);
  CHECK(whole >= 8);
}

TEST_CASE("every experiment of the runbook's ladder has its gate, and its commands judge one knob") {
  const std::string page = read_file(kRoot + "/RUNBOOK.md").value();
  std::set<int> judged;
  for (const std::string_view line : split_lines(page)) {
    const std::size_t mark = line.find("# EXP ");
    if (mark == std::string_view::npos) continue;
    const std::string_view numbers = line.substr(mark + 6, line.find(':', mark) - mark - 6);
    for (const std::string_view one : split(numbers.substr(0, numbers.find(", one")), ',')) {
      CAPTURE(one);
      judged.insert(static_cast<int>(parse_int(trim(one)).value_or(0)));
    }
  }
  for (int exp = 1; exp <= 22; ++exp) {
    CAPTURE(exp);
    CHECK_THAT(page, Catch::Contains("\n| " + std::to_string(exp) + " | "));
    CHECK(judged.contains(exp));
  }
  for (const std::string& command : commands_of(page)) {
    if (!command.starts_with("bracket run ")) continue;
    INFO(command);
    CHECK(command.find("--profile ") != std::string::npos);
    CHECK(command.find("--boots ") != std::string::npos);
  }
}

TEST_CASE("every overlay module says what it changes") {
  int modules = 0;
  for (const auto& entry : fs::directory_iterator(kRoot + "/overlay/modules")) {
    INFO(entry.path());
    ++modules;
    CHECK(read_file(entry.path() / "README.md").value_or("").starts_with("# " + entry.path().filename().string()));
  }
  CHECK(modules >= 1);
}

TEST_CASE("systemd accepts every unit") {
  const TempDir dir;
  if (!run_captured({{"systemd-analyze", "--version"}, {}, "", ""}, 20 * kSecond)) {
    WARN("skipped: systemd-analyze is not installed");
    return;
  }
  int units = 0;
  for (const auto& entry : fs::directory_iterator(kRoot + "/fleet/systemd")) {
    const std::string extension = entry.path().extension();
    if (extension != ".service" && extension != ".timer") continue;
    std::string name = entry.path().filename();
    if (const std::size_t at = name.find("@."); at != std::string::npos) name.insert(at + 1, "sim");
    // Programs are installed below /usr/bin; verify wants them there, so the copy names those of this build.
    std::string text = read_file(entry.path()).value();
    for (std::size_t at = text.find("/usr/bin/"); at != std::string::npos; at = text.find("/usr/bin/", at + 1))
      text.replace(at, 9, std::string(BK_BIN_DIR) + "/");
    REQUIRE(write_file_atomic(dir.path() / name, text));
    ++units;
  }
  for (const auto& entry : fs::directory_iterator(dir.path())) {
    INFO(entry.path());
    const auto ran = run_captured({{"systemd-analyze", "verify", "--man=no", entry.path()}, {}, "", ""}, 60 * kSecond);
    REQUIRE(ran);
    INFO(ran->err);
    CHECK(ran->exit.code == 0);
    CHECK(ran->err.find(entry.path().filename().string()) == std::string::npos);
  }
  CHECK(units >= 6);
}

}  // namespace bk
