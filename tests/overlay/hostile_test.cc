#include <sys/stat.h>

#include <random>

#include "base/text.h"
#include "lane_fixture.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// One hostile text and what has to be said of it.
struct Hostile {
  std::string text;
  int row;  ///< 0: the file as a whole
  std::string cause;
};

/// Refused by `compose` in one printable line that names row and cause; nothing is written anywhere.
void refuse(const LaneFixture& lane, const Hostile& hostile, const std::string& file,
            const std::map<std::string, std::string>& before) {
  const Ran ran = overlay_program({"compose", lane.profile(), "--build-dir", (lane.root / "build").string()});
  CAPTURE(hostile.text.substr(0, 200), ran.err, hostile.cause);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, hostile.cause));
  CHECK(holds(ran.err, hostile.row == 0 ? file + ")" : fmt::format("{}:{})", file, hostile.row)));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK(std::none_of(ran.err.begin(), ran.err.end() - 1, [](char c) { return c >= 0 && c < ' '; }));
  CHECK(files_below(lane.root) == before);
}

std::vector<Hostile> listed_profiles() {
  const std::string good = "COMMAND=x\n";
  std::vector<Hostile> all = {
      {"", 0, "no COMMAND"},
      {"COMMAND\n", 1, "no '=' after COMMAND"},
      {"=x\n", 1, "a key starts with a capital letter"},
      {"COMMAND=x y\n", 1, "put a value with blanks in quotes"},
      {"COMMAND=$(id)\n", 1, "no command is executed"},
      {"COMMAND=\"$(id)\"\n", 1, "no command is executed"},
      {"COMMAND=\"$((1))\"\n", 1, "no command is executed"},
      {"COMMAND=\"x\n", 1, "a double quote is not closed"},
      {"COMMAND='x\n", 1, "a single quote is not closed"},
      {"COMMAND=x\nCOMMAND=y\n", 2, "COMMAND is set twice: rows 1 and 2"},
      {"export COMMAND=x\n", 1, "remove 'export'"},
      {"COMMAND =x\n", 1, "blank before '='"},
      {"COMMAND= x\n", 1, "blank after '='"},
      {"1A=x\n", 1, "a key starts with a capital letter"},
      {"A-B=x\n", 1, "'-' cannot stand in a key"},
      {"COMMAND=${X}\n", 1, "${X} is set by no earlier line"},
      {"COMMAND=$X\n", 1, "'$' must start ${NAME}"},
      {"COMMAND=x\r\n", 1, "carriage return"},
      {"\xEF\xBB\xBF"
       "COMMAND=x\n",
       1, "byte order mark"},
      {std::string("COMMAND=x\0\n", 11), 1, "control character 0x00"},
      {"COMMAND=\x1b[2J\n", 1, "control character 0x1b"},
      {"COMMAND=\"\xff\"\n", 0, "not UTF-8"},
      {"COMMAND=\"a${A\"\n", 1, "'${' is not closed"},
      {"COMMAND=\"\"\n", 1, "COMMAND is empty"},
      {"COMMAND=\"x {NOPE}\"\n", 1, "{NOPE} is no knob"},
  };
  const std::pair<const char*, const char*> kSecondRow[] = {
      {"COMAND=y", "did you mean COMMAND?"},
      {"PORT=0", "from 1 to 65535"},
      {"PORT=65536", "from 1 to 65535"},
      {"PORT=0x10", "from 1 to 65535"},
      {"HOST=a:b", "HOST is a name"},
      {"RUNTIME=chroot", "RUNTIME is process, namespace, docker or podman"},
      {"MODULES=\"a a\"", "MODULES names a twice"},
      {"MODULES=\"../a\"", "it has the character '.'"},
      {"MODULES=\"-x\"", "it starts with '-'"},
      {"TARGET_PREFIX=relative", "TARGET_PREFIX is an absolute path"},
      {"TARGET_PREFIX=\"{BIN}/x\"", "TARGET_PREFIX may hold {ROOT}"},
      {"K.values=\"0 1\"", "K has no default"},
      {"ENV.1X=1", "'1X' is no name of a variable"},
      {"EXTRA_ENV=A", "is no KEY=VALUE; entries are separated by blanks"},
      {"EXTRA_ENV=\"A=1,B=2\"", "separate entries by blanks, not commas"},
      {"READY_TIMEOUT_S=-1", "READY_TIMEOUT_S is seconds"},
      {"STOP_GRACE_S=nan", "STOP_GRACE_S is seconds"},
      {"FOREIGN_LOAD_MAX=25", "FOREIGN_LOAD_MAX is a share of the cores, 0 to 1; not '25'"},
      {"GATES=\"check-quality needle-256k\"", "GATES: 'needle-256k' is no gate of a bracket; there are check-quality,"},
      {"GATES=greedy-divergense", "did you mean greedy-divergence?"},
      {"GATES=\"check-quality check-quality\"", "GATES: check-quality stands twice"},
      {"FOREIGN_LOAD_MAX=nan", "FOREIGN_LOAD_MAX is a share of the cores"},
      {"METRICS=ftp://x", "METRICS is a path"},
      {"API_KEY_ENV=a-b", "API_KEY_ENV names one variable"},
      {"VERSION_LOG=\"(\"", "no regular expression"},
      {"SEED=1", "SEED is reserved"},
      {"NODES=\"a a\"", "node a is named twice"},
      {"NODES=\"-oProxyCommand=evil\"", "it starts with '-'"},
      {"NODES='a;id'", "it has the character ';'"},
      {"DEPLOY_DIR=/a/../b", "the segment '..'"},
      {"DEPLOY_DIR='/a b'", "it has the character ' '"},
      {"DEPLOY_DIR=deploy", "it is not absolute"},
      {"IMAGE='-v /:/x'", "IMAGE is written oddly"},
      {"IMAGE_ID=sha256:12", "64 lower-case hex digits"},
      {"MOUNTS=/a:/b", "HOST:CONTAINER:ro"},
      {"MOUNTS=/a:/b:rw,z", "HOST:CONTAINER:ro"},
      {"CONTAINER_FLAGS=\"--gpus all --network host\"", "CONTAINER_FLAGS holds --network"},
      {"CONTAINER_FLAGS=--name=x", "CONTAINER_FLAGS holds --name"},
      {"SSH_CONFIG=config", "SSH_CONFIG is an absolute path"},
      {"EXCLUSIVE=1", "EXCLUSIVE is yes or no"},
  };
  for (const auto& [row, cause] : kSecondRow) all.push_back({good + row + "\n", 2, cause});
  for (const char c : std::string("`;|&><()")) {
    all.push_back({fmt::format("COMMAND=x{}id\n", c), 1, fmt::format("'{}' needs single quotes", c)});
  }
  return all;
}

TEST_CASE("hostile profiles are refused with row and cause, and nothing is written") {
  const LaneFixture lane;
  auto all = listed_profiles();
  // Fuzzed: a control byte, a shell's sign or a doubled key somewhere in the good profile.
  const std::string good = read_file(lane.profile()).value();
  std::mt19937 random(6);
  const auto rows = split(std::string_view(good).substr(0, good.size() - 1), '\n');
  for (int i = 0; i < 80; ++i) {
    const std::size_t row = random() % rows.size();
    std::vector<std::string> lines(rows.begin(), rows.end());
    const std::string key = lines[row].substr(0, lines[row].find('='));
    Hostile hostile{"", static_cast<int>(row) + 1, ""};
    if (i % 3 == 0) {
      const char control = static_cast<char>(1 + random() % 8);
      lines[row].insert(random() % (lines[row].size() + 1), 1, control);
      hostile.cause = fmt::format("control character 0x{:02x}", control);
    } else if (i % 3 == 1) {
      lines[row] = key + "=x" + "`;|&><()"[random() % 8];
      hostile.cause = "needs single quotes";
    } else {
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(row), lines[row]);
      hostile.row = static_cast<int>(row) + 2;
      hostile.cause = key + " is set twice";
    }
    hostile.text = join(lines, "\n") + "\n";
    all.push_back(std::move(hostile));
  }
  CHECK(all.size() >= 140);
  for (const Hostile& hostile : all) {
    lane.write("profiles/p.env", hostile.text);
    refuse(lane, hostile, "p.env", files_below(lane.root));
  }
  lane.write("profiles/p.env", good);
  CHECK(overlay_program({"compose", lane.profile(), "--build-dir", (lane.root / "build").string()}).code == 0);
}

TEST_CASE("fuzzed manifests of a whole lane are refused with row and cause, and nothing is written") {
  const LaneFixture lane;
  const std::string file = "overlay/modules/one/manifest.tsv";
  const std::string good = read_file(lane.root / file).value();
  const std::string hash = sha256_hex(lane.old_text);
  std::mt19937 random(27);
  const auto pick = [&](const std::vector<std::string>& words) { return words[random() % words.size()]; };
  for (int i = 0; i < 120; ++i) {
    Hostile hostile{"", 3, ""};
    const int kind = i % 8;
    std::string source = "a2.py", target = fmt::format("pkg/f{}.py", i), contract = "absent";
    if (kind == 0) target = pick({"../x", "pkg/../../x", "/etc/passwd", "/", "pkg//x", "./pkg/x", "pkg/x/", "pkg/./x"});
    if (kind == 1)
      source = pick({"../a.py", "sub/a.py", "/a.py", ".a.py", "..", "manifest.tsv", "requires", "SHA256SUMS"});
    if (kind == 2) contract = hash.substr(0, 1 + random() % 63);
    if (kind == 3) contract = pick({"Absent", "ABSENT", "none", "absent ", "sha256:" + hash, to_lower(hash) + "0"});
    if (kind == 4)
      target.insert(random() % (target.size() + 1), 1, pick({" ", "*", "$", "\"", "'", "\\", "\x01", "\xc3"})[0]);
    if (kind == 5) target = pick({"pkg/a.py", "PKG/A.PY", "pkg/a.py/x", "pkg"});
    if (kind == 6) source = pick({"a.py", "A.py", "missing.py", "a.py.py"});
    if (kind == 7) contract = pick({"absent\tx", "absent\r", "", "absent\t"});
    const char* kCauses[] = {"target '", "source '", "contract '", "contract '", "it has the character", "", "", ""};
    hostile.cause = kCauses[kind];
    hostile.text = good + source + "\t" + target + "\t" + contract + "\n";
    lane.write(file, hostile.text);
    refuse(lane, hostile, "one/manifest.tsv", files_below(lane.root));
  }
  lane.write(file, good);
  CHECK(overlay_program({"compose", lane.profile(), "--build-dir", (lane.root / "build").string()}).code == 0);
}

TEST_CASE("modules of links, folders and pipes are refused, and nothing is written") {
  const LaneFixture lane;
  const fs::path module = lane.root / "overlay/modules/one";
  const std::string text = read_file(module / "a.py").value();
  const auto with = [&](const fs::path& path, const auto& make, const std::string& cause, const std::string& place) {
    const std::string kept = read_file(path).value();
    fs::remove(path);
    make(path);
    const Ran ran = overlay_program({"compose", lane.profile(), "--build-dir", (lane.root / "build").string()});
    CAPTURE(path.string(), ran.err);
    CHECK(ran.code == 2);
    CHECK(holds(ran.err, cause));
    CHECK(holds(ran.err, place));
    CHECK_FALSE(fs::exists(lane.root / "build"));
    fs::remove_all(path);
    REQUIRE(write_file_atomic(path, kept));
  };
  const auto link = [](const fs::path& path) { fs::create_symlink("/etc/hostname", path); };
  const auto folder = [](const fs::path& path) { fs::create_directory(path); };
  const auto pipe = [](const fs::path& path) { REQUIRE(mkfifo(path.c_str(), 0644) == 0); };
  with(module / "a.py", link, "a.py is a symbolic link", "one/manifest.tsv:1");
  with(module / "a.py", folder, "a.py is no regular file", "one/manifest.tsv:1");
  with(module / "a.py", pipe, "a.py is no regular file", "one/manifest.tsv:1");
  with(module / "manifest.tsv", link, "manifest.tsv is a symbolic link", "one/manifest.tsv");
  with(module / "manifest.tsv", pipe, "manifest.tsv is no regular file", "one/manifest.tsv");
  with(lane.root / "overlay/modules/two/requires", link, "requires is a symbolic link", "two/requires");
}

}  // namespace
}  // namespace bk::overlay
