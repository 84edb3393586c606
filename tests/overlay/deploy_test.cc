#include <signal.h>

#include "base/json.h"
#include "fleet_fixture.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Process start_deploy(const FleetFixture& fleet, const std::string& log) {
  auto started =
      Process::start({{std::string(BK_BIN_DIR) + "/overlay", "deploy", fleet.lane.profile()}, {}, "", log, true});
  REQUIRE(started);
  return std::move(*started);
}

TEST_CASE("a deploy puts the same bytes on four nodes, and status says so", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  CHECK(fleet.status().code == 0);
  const Ran first = fleet.deploy({"--json"});
  CAPTURE(first.out, first.err);
  REQUIRE(first.code == 0);
  const auto json = parse_json(first.out);
  REQUIRE(json);
  const std::string release = *(*json)["release"].as_string();
  for (const std::string& node : fleet.nodes.names) {
    CAPTURE(node);
    CHECK(sha256_hex(fleet.deployed(node)) == release);
    const std::string manifest = read_file(fleet.nodes.on(node, fleet.releases) / "current/manifest.tsv").value_or("");
    CHECK(manifest.starts_with("# commit " + fleet.git({"rev-parse", "HEAD"}) + "\n"));
  }
  const auto before = fleet.all_hashes();
  const Ran again = fleet.deploy();
  CHECK(again.code == 0);
  CHECK(holds(again.out, "already there on 4 nodes"));
  CHECK(fleet.all_hashes() == before);
  fleet.change("n = 2\n");
  CHECK(fleet.deploy().code == 0);
  CHECK(fleet.all_hashes() != before);
  const Ran status = fleet.status();
  CHECK(status.code == 0);
  CHECK_FALSE(holds(status.out, "skew"));
  CHECK(holds(status.out, fleet.git({"rev-parse", "HEAD"}).substr(0, 12)));
}

TEST_CASE("a dirty tree, an older commit and one that parted are refused, and change nothing", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  fleet.change("n = 2\n");
  REQUIRE(fleet.deploy().code == 0);
  const auto before = fleet.all_hashes();
  const auto refused = [&](const std::string& said) {
    const Ran ran = fleet.deploy();
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(holds(ran.err, said));
    CHECK(fleet.all_hashes() == before);
  };
  fleet.lane.write("overlay/modules/two/new.py", "n = 3\n");
  refused("the tree is dirty, overlay/modules/two/new.py changed");
  fleet.git({"checkout", "-q", "--", "."});
  fleet.lane.write("untracked.py", "x\n");
  refused("the tree is dirty, untracked.py changed");
  fs::remove(fleet.lane.root / "untracked.py");
  fleet.git({"checkout", "-q", "HEAD~1"});
  refused("HEAD is older than the deployed commit");
  fleet.change("n = 4\n");
  refused("HEAD does not hold the deployed commit");
  CHECK(fleet.deploy({"--allow-older"}).code == 0);
  CHECK(fleet.all_hashes() != before);
}

TEST_CASE("a node whose copy differs is named, and no node changes", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  REQUIRE(fleet.deploy().code == 0);
  const auto before = fleet.all_hashes();
  fleet.change("n = 2\n");
  fleet.nodes.replace_program("n3", "/usr/bin/tar",
                              "\"$real\" \"$@\" && echo '# one line more' >>/srv/bracketkit/p/.staging/a.py\n");
  const Ran ran = fleet.deploy();
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(holds(ran.err, "as copied, a.py has SHA-256 "));
  CHECK(holds(ran.err, "every node has its former release (n3)"));
  CHECK(fleet.all_hashes() == before);
  fleet.nodes.restore_program("n3", "/usr/bin/tar");
  CHECK(fleet.deploy().code == 0);
}

TEST_CASE("a Python file that does not compile stops a deploy before any node is asked, and leaves no cache") {
  const LaneFixture lane;
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@example.invalid"});
    test::must_run(words, {}, lane.root.string());
  };
  const std::string nodes = "--nodes=nowhere.invalid";
  git({"init", "-q"});
  const auto deploy = [&](const std::string& text, const std::vector<std::string>& more) {
    lane.write("overlay/modules/two/new.py", text);
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "x"});
    const auto before = files_below(lane.root);
    cli::Args args = {"deploy", lane.profile(), nodes};
    args.insert(args.end(), more.begin(), more.end());
    const Ran ran = overlay_program(args);
    auto after = files_below(lane.root);
    std::erase_if(after, [](const auto& file) { return file.first.starts_with(".git/"); });
    for (const auto& [name, bytes] : after) CHECK(before.contains(name));
    return ran;
  };
  struct Broken {
    std::string text, where, said;
  };
  const Broken kBroken[] = {{"n = 1\nif n\n  pass\n", "(new.py:2)", "module two: new.py does not compile: "},
                            {"return 1\n", "(new.py:1)", "'return' outside function"},
                            {std::string("n = 1\n\0\n", 8), "(new.py:1)", "null byte"},
                            {"n = '\xff'\n", "(new.py:1)", "does not compile: "}};
  for (const Broken& broken : kBroken) {
    for (const bool dry : {false, true}) {
      const Ran ran = deploy(broken.text, dry ? std::vector<std::string>{"--dry-run"} : std::vector<std::string>{});
      CAPTURE(broken.text, ran.out, ran.err);
      CHECK(ran.code == 2);
      CHECK(ran.out.empty());
      CHECK(holds(ran.err, broken.where));
      CHECK(holds(ran.err, broken.said));
      CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    }
  }
  const Ran good = deploy("n = 2\n", {"--dry-run"});
  CHECK(good.code == 0);
  CHECK(holds(good.out, "would deploy p at commit "));
  const Ran none = deploy("n = 2\n", {"--dry-run", "--python", "no-such-python"});
  CHECK(none.code == 3);
  CHECK(holds(none.err, "name another by --python (no-such-python)"));
  const Ran silent = deploy("n = 2\n", {"--dry-run", "--python", "false"});
  CHECK(silent.code == 3);
  CHECK(holds(silent.err, "exit code 1"));
}

TEST_CASE("what a clean tree hides is refused: ignored files, files that git does not look at, modules elsewhere") {
  const LaneFixture lane;
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@example.invalid"});
    test::must_run(words, {}, lane.root.string());
  };
  const auto commit = [&] {
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "x"});
  };
  const auto deploy = [&](std::vector<std::string> more = {}) {
    cli::Args args = {"deploy", lane.profile(), "--nodes=nowhere.invalid", "--dry-run"};
    args.insert(args.end(), more.begin(), more.end());
    return overlay_program(args);
  };
  const auto refused = [&](const Ran& ran, const std::string& what, const std::string& where) {
    CAPTURE(ran.out, ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(holds(ran.err, what));
    CHECK(holds(ran.err, where));
  };
  git({"init", "-q"});
  commit();
  REQUIRE(deploy().code == 0);

  lane.write(".gitignore", "extra.py\n");
  lane.write("overlay/modules/two/manifest.tsv", "new.py\tpkg/sub/new.py\tabsent\nextra.py\tpkg/extra.py\tabsent\n");
  lane.write("overlay/modules/two/extra.py", "e = 1\n");
  commit();
  refused(deploy(), "git ignores extra.py, or is told not to look at it: commit it", "overlay/modules/two)");
  git({"add", "-f", "overlay/modules/two/extra.py"});
  commit();
  REQUIRE(deploy().code == 0);

  for (const std::string hide : {"--assume-unchanged", "--skip-worktree"}) {
    git({"update-index", hide, "overlay/modules/two/new.py"});
    lane.write("overlay/modules/two/new.py", "n = 99\n");
    refused(deploy(), "git ignores new.py, or is told not to look at it", "overlay/modules/two)");
    git({"update-index", "--no" + hide.substr(1), "overlay/modules/two/new.py"});
    git({"checkout", "-q", "--", "."});
    REQUIRE(deploy().code == 0);
  }

  const TempDir elsewhere;
  fs::copy(lane.root / "overlay/modules", elsewhere.path() / "modules", fs::copy_options::recursive);
  refused(deploy({"--modules-dir", (elsewhere.path() / "modules").string()}), "it lies outside of the checkout",
          "/modules/one)");

  lane.write(".gitignore", "p.env\n");
  git({"rm", "-q", "--cached", "profiles/p.env"});
  commit();
  refused(deploy(), "git ignores p.env", "profiles)");
}

TEST_CASE("a file that was changed on a node stops the deploy; status names it, and skew", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  REQUIRE(fleet.deploy().code == 0);
  fleet.change("n = 2\n");
  const fs::path changed = fleet.nodes.on("n2", fleet.releases) / "current/a.py";
  const std::string good = read_file(changed).value();
  REQUIRE(write_file_atomic(changed, good + "# by hand\n"));
  const auto before = fleet.all_hashes();
  const Ran ran = fleet.deploy();
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(holds(ran.err, "a.py was changed since it was deployed"));
  CHECK(holds(ran.err, "(n2)"));
  CHECK(fleet.all_hashes() == before);
  const Ran status = fleet.status();
  CHECK(status.code == 1);
  CHECK(holds(status.out, "n2: a.py was changed there"));
  REQUIRE(write_file_atomic(changed, good));
  CHECK(fleet.status().code == 0);
  fs::remove(fleet.nodes.on("n4", fleet.releases) / "current");
  const Ran skew = fleet.status();
  CHECK(skew.code == 1);
  CHECK(holds(skew.out, " on n1, n2, n3; none on n4"));
  CHECK(fleet.deploy().code == 0);
  CHECK(fleet.status().code == 0);
}

TEST_CASE("a node that cannot be reached, or is another machine, changes nothing anywhere", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  const auto empty = fleet.all_hashes();
  fleet.nodes.set_link("n4", false);
  const auto unreachable = [&](const std::vector<std::string>& before) {
    const Ran ran = fleet.deploy();
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(holds(ran.err, "nothing was changed on any node (n4)"));
    CHECK(fleet.all_hashes() == before);
  };
  unreachable(empty);
  const Ran unknown = fleet.status();
  CHECK(unknown.code == 4);
  CHECK(holds(unknown.out, "n4: no answer: "));
  fleet.nodes.set_link("n4", true);
  REQUIRE(test::eventually([&] { return fleet.deploy().code == 0; }));
  fleet.change("n = 2\n");
  const auto before = fleet.all_hashes();
  // The pinned key of n4 is not the one that the machine has: it is not the machine that it was.
  std::string known = read_file(fleet.nodes.known_hosts()).value();
  const std::size_t last = known.find("n4 ");
  known = known.substr(0, last) + "n4" + known.substr(2, known.find('\n') - 2) + "\n";
  REQUIRE(write_file_atomic(fleet.nodes.known_hosts(), known));
  unreachable(before);
}

TEST_CASE("a deploy that is killed in the middle leaves every node with its former release", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  REQUIRE(fleet.deploy().code == 0);
  const auto before = fleet.all_hashes();
  fleet.change("n = 2\n");
  // n4 hangs in its hash list once its new release is active, while the other three have theirs.
  const std::string hold = (fleet.lane.dir.path() / ".git/hold").string();
  REQUIRE(write_file_atomic(hold, ""));
  fleet.nodes.replace_program(
      "n4", "/usr/bin/sha256sum",
      "while [ -e /srv/bracketkit/p/pending ] && [ -e " + hold + " ]; do sleep 0.02; done\nexec \"$real\" \"$@\"\n");
  Process deploy = start_deploy(fleet, (fleet.lane.dir.path() / ".git/log").string());
  const auto pending = [&](const std::string& node) {
    return fs::exists(fleet.nodes.on(node, fleet.releases) / "pending");
  };
  REQUIRE(test::eventually([&] { return pending("n1") && pending("n2") && pending("n3") && pending("n4"); }));
  REQUIRE(test::eventually([&] { return fleet.hashes("n1") != before[0] && fleet.hashes("n4") != before[3]; }));
  REQUIRE(kill(deploy.pid(), SIGKILL) == 0);
  CHECK(deploy.wait().code == 128 + SIGKILL);
  fs::remove(hold);
  CHECK(test::eventually([&] { return fleet.all_hashes() == before; }));
  CHECK(fleet.all_hashes() == before);
  fleet.nodes.restore_program("n4", "/usr/bin/sha256sum");
  CHECK(fleet.status().code == 0);
  CHECK(fleet.deploy().code == 0);
  CHECK(fleet.all_hashes() != before);
}

TEST_CASE("a node that dies in the middle: the others go back, and its next deploy puts it in order", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  REQUIRE(fleet.deploy().code == 0);
  const auto before = fleet.all_hashes();
  fleet.change("n = 2\n");
  // The script on n2 is killed with its new release active, so that it cannot roll back itself.
  const std::string script_pid_file = (fleet.lane.dir.path() / ".git/pid").string();
  fleet.nodes.replace_program("n2", "/usr/bin/sync", "echo $PPID >" + script_pid_file + "\nexec \"$real\" \"$@\"\n");
  fleet.nodes.replace_program(
      "n2", "/usr/bin/sha256sum",
      "if [ -e /srv/bracketkit/p/pending ]; then kill -9 $(cat " + script_pid_file + "); fi\nexec \"$real\" \"$@\"\n");
  const Ran ran = fleet.deploy();
  CAPTURE(ran.err);
  CHECK(ran.code == 3);
  CHECK(holds(ran.err, "n2 did not confirm that the former release is back: run overlay status (n2)"));
  for (const std::size_t i : {0, 2, 3}) CHECK(fleet.hashes(fleet.nodes.names[i]) == before[i]);
  CHECK(fleet.hashes("n2") != before[1]);
  fleet.nodes.restore_program("n2", "/usr/bin/sha256sum");
  const Ran status = fleet.status();
  CHECK(status.code == 1);
  CHECK(holds(status.out, "n2: a deploy did not end; the next one rolls it back"));
  CHECK(holds(status.out, "skew: "));
  const Ran next = fleet.deploy();
  CAPTURE(next.err);
  CHECK(next.code == 0);
  CHECK(holds(next.err, "n2: an unfinished older deploy was rolled back"));
  CHECK(fleet.status().code == 0);
}

TEST_CASE("a node whose disk is full, or cannot be written, is named, and no node changes", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  REQUIRE(fleet.deploy().code == 0);
  fleet.lane.write("overlay/modules/two/new.py", "n = 2  # " + std::string(200'000, 'x') + "\n");
  fleet.commit("large");
  const auto refused = [&](const std::string& node, const std::vector<std::string>& mount, const std::string& said) {
    fleet.nodes.inside(node, mount);
    const auto before = fleet.all_hashes();
    const Ran ran = fleet.deploy();
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(holds(ran.err, said));
    CHECK(holds(ran.err, " (" + node + ")\n"));
    CHECK(fleet.all_hashes() == before);
    CHECK_FALSE(fs::exists(fleet.nodes.on(node, fleet.releases) / ".staging"));
    fleet.nodes.inside(node, {"umount", "/srv/bracketkit"});
  };
  refused("n2", {"mount", "-t", "tmpfs", "-o", "size=64k", "none", "/srv/bracketkit"},
          " KiB are free there); every node has its former release");
  refused("n3",
          {"sh", "-c", "mount --bind /srv/bracketkit /srv/bracketkit && mount -o remount,bind,ro /srv/bracketkit"},
          "/srv/bracketkit cannot be written there");
  CHECK(fleet.deploy().code == 0);
}

TEST_CASE("of two deploys at once the second is refused and told who holds the node", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  REQUIRE(fleet.deploy().code == 0);
  fleet.change("n = 2\n");
  const std::string hold = (fleet.lane.dir.path() / ".git/hold").string();
  REQUIRE(write_file_atomic(hold, ""));
  fleet.nodes.replace_program("n4", "/usr/bin/tar",
                              "while [ -e " + hold + " ]; do sleep 0.02; done\nexec \"$real\" \"$@\"\n");
  Process deploy = start_deploy(fleet, (fleet.lane.dir.path() / ".git/log").string());
  REQUIRE(test::eventually([&] { return fs::exists(fleet.nodes.on("n4", fleet.releases) / ".staging"); }));
  const Ran second = fleet.deploy();
  CAPTURE(second.err);
  CHECK(second.code == 3);
  CHECK(holds(second.err, "another deploy runs: root@"));
  CHECK(holds(second.err, "pid " + std::to_string(deploy.pid()) + " since "));
  CHECK(holds(fleet.status().out, "n1: a deploy runs: root@"));
  fs::remove(hold);
  CHECK(deploy.wait().ok());
  CHECK(fleet.status().code == 0);
  CHECK(holds(fleet.deploy().out, "already there"));
}

TEST_CASE("a thousand files go to four nodes", "[.nodes]") {
  BK_NEEDS_NODES();
  const FleetFixture fleet;
  std::string manifest;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = fmt::format("f{:04}.py", i);
    fleet.lane.write("overlay/modules/two/" + name, fmt::format("# file {}\n{}\n", i, std::string(4000, 'x')));
    manifest += name + "\tpkg/many/" + name + "\tabsent\n";
  }
  fleet.lane.write("overlay/modules/two/manifest.tsv", manifest);
  fleet.commit("many");
  const Nanos start = monotonic_now();
  const Ran ran = fleet.deploy();
  std::printf("1000 files to 4 nodes: %.2f s\n", to_s(monotonic_now() - start));
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(split_lines(fleet.deployed("n1")).size() == 1002);
  for (const std::string& node : fleet.nodes.names) CHECK(fleet.deployed(node) == fleet.deployed("n1"));
}

TEST_CASE("nodes are named in the profile or on the command line, and written so that no shell is fooled") {
  const LaneFixture lane;
  CHECK(holds(overlay_program({"status", lane.profile()}).err, "no node is named"));
  for (const char* nodes :
       {"-oProxyCommand=evil", "a b", "a;b", "$(x)", "a,a", "a,,b", "@a", "a@", "u@-x", "a@b@c", "n'1"}) {
    const Ran ran = overlay_program({"status", lane.profile(), std::string("--nodes=") + nodes});
    CAPTURE(nodes, ran.err);
    CHECK(ran.code == 2);
    CHECK(holds(ran.err, "(--nodes)"));
  }
}

}  // namespace
}  // namespace bk::overlay
