#include <catch2/catch.hpp>

#include "base/sha256.h"
#include "boot/launcher.h"
#include "support/killed_boot.h"
#include "support/ssh_nodes.h"

using namespace bk;
using namespace bk::boot;

namespace {

namespace fs = std::filesystem;

/// A lane whose engine is the embedded one, on every node.
struct LaneOnNodes {
  test::SshNodes& nodes = test::SshNodes::fresh();
  TempDir dir;

  [[nodiscard]] Profile profile(const std::string& more = "", const std::string& name = "lane") const {
    const std::string text =
        "COMMAND=\"{BIN}/sim-engine --host 0.0.0.0 --port {PORT} --knob GATEFUSE={GATEFUSE} --seed {RANK}\"\n"
        "NODES=\"n1 n2 n3 n4\"\nPORT=8000\nHOST=" +
        test::SshNodes::address("n1") + "\nREADY_TIMEOUT_S=60\nSTOP_GRACE_S=5\nSSH_CONFIG=" + nodes.config_file() +
        "\nGATEFUSE=1\nGATEFUSE.values=\"0 1\"\nGATEFUSE.proof='log: ^proof GATEFUSE={VALUE}$'\n"
        "MARK=7\nMARK.any=yes\nMARK.env=BK_MARK\nMARK.proof=\"environ: BK_MARK\"\n" +
        more;
    auto parsed = parse_profile(text, (dir.path() / "profiles" / (name + ".env")).string(), {});
    INFO((parsed ? std::string() : parsed.error().text()));
    REQUIRE(parsed);
    return *parsed;
  }
  [[nodiscard]] Result<std::unique_ptr<Booted>> boot(const Profile& profile) const {
    BK_ASSIGN(const Arm arm, make_arm(profile, "base", {}));
    LaunchOptions options;
    options.log_file = dir.path() / "engine.log";
    options.bin_dir = BK_BIN_DIR;
    return make_fleet_launcher()->boot(profile, arm, options);
  }
  /// Processes of the embedded engine in the node's network.
  [[nodiscard]] int engines(const std::string& node) const {
    std::error_code error;
    const auto net = fs::read_symlink(fmt::format("/proc/{}/ns/net", nodes.pid(node)), error);
    int count = 0;
    for (fs::directory_iterator it("/proc", error), end; it != end; it.increment(error)) {
      std::error_code gone;
      const bool engine = fs::read_symlink(it->path() / "exe", gone).filename() == "sim-engine";
      if (engine && fs::read_symlink(it->path() / "ns/net", gone) == net) ++count;
    }
    return count;
  }
  [[nodiscard]] std::string lock(const std::string& node) const {
    return read_file(nodes.on(node, "/run/lock/bracketkit/lane")).value_or("");
  }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a lane boots on four nodes, proves itself, holds their run locks and leaves nothing", "[.nodes]") {
  BK_NEEDS_NODES();
  const LaneOnNodes lane;
  auto booted = lane.boot(lane.profile());
  INFO((booted ? std::string() : booted.error().text()));
  REQUIRE(booted);
  const BootFacts& facts = (*booted)->facts();
  CHECK(facts.endpoint.base_url == "http://10.77.1.2:8000");
  for (const Proof& proof : facts.proofs) {
    INFO(proof.knob << ": " << proof.reason);
    CHECK(proof.ok);
  }
  CHECK(facts.fingerprint["nodes"].items().size() == 4);
  for (const std::string& node : lane.nodes.names) {
    CAPTURE(node);
    CHECK(lane.engines(node) == 1);
    CHECK(holds(lane.lock(node), "lane=lane\n"));
  }
  CHECK(fs::exists(lane.dir.path() / "engine.log.rank3"));
  const auto second = lane.boot(lane.profile("", "other"));
  REQUIRE_FALSE(second);
  CHECK(second.error().where == "n1");
  CHECK(holds(second.error().what, "this node is taken by lane lane of "));
  CHECK((*booted)->alive());
  CHECK((*booted)->stop());
  for (const std::string& node : lane.nodes.names) {
    CHECK(lane.engines(node) == 0);
    CHECK(test::eventually([&] { return lane.lock(node).empty(); }));
  }
}

TEST_CASE("a rank that dies ends the boot's life, with the node's name", "[.nodes]") {
  BK_NEEDS_NODES();
  const LaneOnNodes lane;
  auto booted = lane.boot(lane.profile());
  INFO((booted ? std::string() : booted.error().text()));
  REQUIRE(booted);
  lane.nodes.inside("n3", {"sh", "-c", "kill -9 $(cat /run/lock/bracketkit/engine.lane)"});
  Status alive;
  CHECK(test::eventually([&] { return !(alive = (*booted)->alive()); }));
  CHECK(holds(alive.error().what, "node n3: ended by signal 9"));
  CHECK((*booted)->stop());
  for (const std::string& node : lane.nodes.names) CHECK(lane.engines(node) == 0);
}

TEST_CASE("one bad node stops a boot before anything is started or taken down", "[.nodes]") {
  BK_NEEDS_NODES();
  const LaneOnNodes lane;
  const auto refused = [&](const Profile& profile, const std::string& node, const std::string& said) {
    const auto booted = lane.boot(profile);
    REQUIRE_FALSE(booted);
    CAPTURE(booted.error().text());
    CHECK(booted.error().where == node);
    CHECK(holds(booted.error().what, said));
    for (const std::string& name : lane.nodes.names) {
      CHECK(lane.engines(name) == 0);
      CHECK(test::eventually([&] { return name == node || lane.lock(name).empty(); }));
    }
  };
  lane.nodes.inside("n3", {"sh", "-c",
                           "mkdir -p /run/lock/bracketkit; printf 'lane=glm53\\nuser=alice\\nhost=gb3\\npid=999999\\n"
                           "start=5\\nsince=2026-11-30T00:00:00Z\\n' >/run/lock/bracketkit/lane"});
  refused(lane.profile(), "n3", "a stale run lock of lane glm53 of alice@gb3, pid 999999, since 2026-11-30T00:00:00Z");
  CHECK(holds(lane.lock("n3"), "lane=glm53\n"));
  lane.nodes.inside("n3", {"rm", "/run/lock/bracketkit/lane"});
  lane.nodes.set_link("n2", false);
  refused(lane.profile(), "n2", "the connection ended (exit code 255)");
}

TEST_CASE("a program that is killed takes its engines on all nodes with it", "[.nodes]") {
  BK_NEEDS_NODES();
  const LaneOnNodes lane;
  const Profile profile = lane.profile();
  const auto running = [&] {
    int count = 0;
    for (const std::string& node : lane.nodes.names) count += lane.engines(node);
    return count;
  };
  const auto up = [&] { CHECK(test::eventually([&] { return running() == 4; })); };
  const auto gone = [&] {
    CHECK(test::eventually([&] { return running() == 0; }));
    for (const std::string& node : lane.nodes.names) CHECK(test::eventually([&] { return lane.lock(node).empty(); }));
  };
  test::kill_after_boot([&] { return lane.boot(profile); }, up, gone);
}

/// No container daemon runs here: docker's command line is stood in for by one that records its words and runs the
/// engine.
TEST_CASE("containers on nodes: image and files are attested first, workers start before the head", "[.nodes]") {
  BK_NEEDS_NODES();
  const LaneOnNodes lane;
  const std::string file = "def f():\n    return 1\n";
  const std::string image = "sha256:" + std::string(64, 'c');
  for (const std::string& node : lane.nodes.names) {
    lane.nodes.inside(node, {"sh", "-c",
                             "mkdir -p /srv/d/lane/releases/r /mnt/p /srv/models && cd /srv/d/lane && ln -s releases/r "
                             "current && cd releases/r && "
                             "printf '# commit x\\na.py\\t/mnt/p/a.py\\t" +
                                 sha256_hex(file) + "\\n' >manifest.tsv && echo new >a.py"});
    REQUIRE(write_file_atomic(lane.nodes.on(node, "/mnt/p/a.py"), file));
  }
  const std::string docker = (lane.dir.path() / "docker").string();
  REQUIRE(write_file_atomic(
      docker,
      "#!/bin/sh\necho \"$*\" >>/srv/words\ncase \"$1 $2\" in\n'image inspect') cat /srv/id;;\n"
      "'run --rm') while [ $# -gt 0 ]; do case $1 in --entrypoint) shift; program=$1;; -c) shift; exec sh -c \"$1\";; "
      "" + image +
          ") shift; exec \"$program\" \"$@\";; esac; shift; done;;\nesac\n"));
  fs::permissions(docker, fs::perms(0755));
  const std::string settings =
      "RUNTIME=docker\nIMAGE=vllm:1\nMODULES=m\nTARGET_PREFIX=/mnt/p\nDEPLOY_DIR=/srv/d\n"
      "MOUNTS=\"/srv/models:/models:ro /srv/cache:/cache:rw\"\nNEEDS=/models/m/config.json\nENV.HF_TOKEN=hidden-value\n"
      "SIDE=/models/side\nSIDE.under=/models\nSIDE.env=SIDE\n";
  const Profile profile = lane.profile(settings);
  const auto set_ids = [&](const std::string& odd_node, const std::string& odd) {
    for (const std::string& node : lane.nodes.names) {
      REQUIRE(write_file_atomic(lane.nodes.on(node, "/srv/id"), (node == odd_node ? odd : image) + "\n"));
    }
  };
  for (const std::string& node : lane.nodes.names) {
    lane.nodes.inside(node, {"sh", "-c",
                             "touch /srv/docker && mount --bind " + docker +
                                 " /srv/docker && "
                                 "mount -t tmpfs none /usr/local/bin && cp " +
                                 docker + " /usr/local/bin/docker"});
  }
  const auto refused = [&](const std::string& node, const std::string& said) {
    const auto booted = lane.boot(profile);
    REQUIRE_FALSE(booted);
    CAPTURE(booted.error().text());
    CHECK(booted.error().where == node);
    CHECK(holds(booted.error().what, said));
    CHECK_FALSE(holds(read_file(lane.nodes.on("n1", "/srv/words")).value_or(""), "--name"));
  };
  set_ids("n3", "sha256:other");
  refused("n3", "image vllm:1 is sha256:other, the head's is " + image);
  set_ids("", "");
  REQUIRE(write_file_atomic(lane.nodes.on("n1", "/mnt/p/a.py"), "drifted\n"));
  refused("n1", "row 2: a.py is " + sha256_hex("drifted\n") + " in the image");
  REQUIRE(write_file_atomic(lane.nodes.on("n1", "/mnt/p/a.py"), file));
  REQUIRE(write_file_atomic(lane.nodes.on("n2", "/srv/d/lane/releases/r/a.py"), "tampered\n"));
  refused("n2", "the deployed overlay differs from the head's");
  REQUIRE(write_file_atomic(lane.nodes.on("n2", "/srv/d/lane/releases/r/a.py"), "new\n"));
  const auto without = [&](const std::string& node, const std::string& path, const std::string& said) {
    lane.nodes.inside(node, {"mv", path, path + ".away"});
    refused(node, said);
    lane.nodes.inside(node, {"mv", path + ".away", path});
  };
  without("n4", "/srv/models", "the folder /srv/models is not there");
  without("n3", "/srv/d/lane/current", "nothing is deployed in /srv/d/lane: run overlay deploy");
  lane.nodes.inside("n2", {"touch", "/srv/cache"});
  refused("n2", "the folder /srv/cache is not there");
  lane.nodes.inside("n2", {"rm", "/srv/cache"});
  const auto put_model = [&](const std::string& node, const std::string& name) {
    lane.nodes.inside(node, {"sh", "-c", "mkdir -p /srv/models/m && touch /srv/models/" + name});
  };
  for (const char* node : {"n1", "n2", "n3"}) put_model(node, "m/config.json");
  refused("n4", "the engine needs /srv/models/m/config.json, which is not there");
  put_model("n4", "m/config.json");
  for (const char* node : {"n1", "n2", "n4"}) put_model(node, "side");
  refused("n3", "the engine needs /srv/models/side, which is not there");
  put_model("n3", "side");
  const auto too_long = lane.boot(lane.profile(settings + "ENV.LONG=" + std::string(140'000, 'x') + "\n"));
  REQUIRE_FALSE(too_long);
  CHECK(too_long.error().code == Errc::kUsage);
  CHECK(holds(too_long.error().what, "131071 are possible"));
  auto booted = lane.boot(profile);
  INFO((booted ? std::string() : booted.error().text()));
  REQUIRE(booted);
  const auto started = [&](const std::string& node) {
    return fs::last_write_time(lane.nodes.on(node, "/run/lock/bracketkit/engine.lane"));
  };
  for (const char* worker : {"n2", "n3", "n4"}) CHECK(started(worker) <= started("n1"));
  const std::string words = read_file(lane.nodes.on("n1", "/srv/words")).value_or("");
  CHECK(holds(words, "type=bind,source=/srv/d/lane/releases/r/a.py,target=/mnt/p/a.py,readonly"));
  CHECK(holds(words, "--env HF_TOKEN "));
  CHECK_FALSE(holds(words, "hidden-value"));
  CHECK((*booted)->facts().fingerprint.dump().find("hidden-value") == std::string::npos);
  CHECK((*booted)->stop());
  CHECK(holds(read_file(lane.nodes.on("n4", "/srv/words")).value_or(""), "stop --time 5 bracketkit-lane-3"));
  for (const std::string& node : lane.nodes.names) {
    CHECK(lane.engines(node) == 0);
    lane.nodes.inside(node, {"sh", "-c", "umount /usr/local/bin; umount /srv/docker"});
  }
}

TEST_CASE("one container on this machine goes the same way without ssh") {
  const TempDir dir;
  const auto parse = [&](const std::string& more) {
    return parse_profile("COMMAND=x\n" + more, (dir.path() / "profiles/p.env").string(), {});
  };
  CHECK(parse("RUNTIME=podman\nIMAGE=i:1\n"));
  const std::pair<const char*, const char*> kRefused[] = {
      {"RUNTIME=docker\n", "RUNTIME=docker needs IMAGE"},
      {"IMAGE=i:1\n", "IMAGE needs RUNTIME=docker or podman"},
      {"NODES=\"a b\"\n", "NODES needs PORT"},
      {"NODES=\"a b a\"\nPORT=1\n", "node a is named twice"},
      {"NODES=\"-oProxyCommand=x\"\nPORT=1\n", "it starts with '-'"},
      {"NODES=a\nPORT=1\nRUNTIME=namespace\nMODULES=m\nTARGET_PREFIX=/x\n", "NODES needs RUNTIME=process"},
      {"WORKER_COMMAND=x\n", "WORKER_COMMAND needs NODES"},
      {"RUNTIME=docker\nIMAGE=i\nIMAGE_ID=sha256:12\n", "64 lower-case hex digits"},
      {"RUNTIME=docker\nIMAGE=i\nMOUNTS=/a:/b\n", "HOST:CONTAINER:ro"},
      {"RUNTIME=docker\nIMAGE=i\nMOUNTS=/a/../b:/b:ro\n", "'..'"},
      {"RUNTIME=docker\nIMAGE=i\nMOUNTS=\"/a,readonly=false:/b:ro\"\n", "the character ','"},
      {"RUNTIME=docker\nIMAGE='-v /:/x'\n", "IMAGE is written oddly"},
      {"DEPLOY_DIR=/\n", "DEPLOY_DIR"},
      {"DEPLOY_DIR=relative\n", "it is not absolute"},
      {"RUNTIME=docker\nIMAGE=i\nCONTAINER_FLAGS='-e A=1'\n", "CONTAINER_FLAGS holds -e: use ENV.NAME for that"},
      {"RUNTIME=docker\nIMAGE=i\nCONTAINER_FLAGS=-eA=1\n", "CONTAINER_FLAGS holds -e: use ENV.NAME for that"},
      {"RUNTIME=docker\nIMAGE=i\nCONTAINER_FLAGS=--env=A=1\n", "CONTAINER_FLAGS holds --env: use ENV.NAME"},
      {"RUNTIME=docker\nIMAGE=i\nCONTAINER_FLAGS='--env-file f'\n", "CONTAINER_FLAGS holds --env-file"},
      {"RUNTIME=docker\nIMAGE=i\nCONTAINER_FLAGS='-v /a:/b'\n", "CONTAINER_FLAGS holds -v: use MOUNTS for that"},
      {"RUNTIME=docker\nIMAGE=i\nCONTAINER_FLAGS='--mount type=bind'\n", "CONTAINER_FLAGS holds --mount"},
      {"NEEDS=relative\n", "NEEDS is an absolute path"},
      {"NEEDS='/a/{X}'\n", "NEEDS may hold {ROOT}, not {X}"},
      {"RUNTIME=docker\nIMAGE=i\nMOUNTS=/a:/models:ro\nNEEDS=/modelsx/c\n", "lies below no folder of MOUNTS"},
      {"EXCLUSIVE=maybe\n", "EXCLUSIVE is yes or no"},
      {"SSH_CONFIG=relative\n", "SSH_CONFIG is an absolute path"},
  };
  for (const auto& [more, said] : kRefused) {
    const auto profile = parse(more);
    CAPTURE(more);
    REQUIRE_FALSE(profile);
    CAPTURE(profile.error().text());
    CHECK(profile.error().code == Errc::kUsage);
    CHECK(holds(profile.error().what, said));
  }
}
