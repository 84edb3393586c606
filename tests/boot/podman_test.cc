#include <catch2/catch.hpp>

#include "base/sha256.h"
#include "boot/launcher.h"
#include "boot/run_lock.h"
#include "support/killed_boot.h"
#include "support/podman_here.h"

using namespace bk;
using namespace bk::boot;

namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A lane in a container of this machine, with a deployed overlay that replaces a.txt, adds new.txt and pins b.txt.
struct LaneInPodman {
  const test::PodmanHere& podman = test::PodmanHere::get();
  TempDir dir;
  const fs::path release = dir.path() / "deploy/lane/releases/r";
  const std::string key = "bk-a-key-that-must-not-be-seen";

  LaneInPodman() {
    deploy(sha256_hex("pinned\n"));
    fs::create_directory_symlink("releases/r", dir.path() / "deploy/lane/current");
  }

  void deploy(const std::string& pin) const {
    REQUIRE(make_directories(release));
    REQUIRE(write_file_atomic(release / "a.txt", "changed\n"));
    REQUIRE(write_file_atomic(release / "new.txt", "added\n"));
    REQUIRE(write_file_atomic(release / "manifest.tsv", "# commit x\na.txt\t/opt/pkg/a.txt\t" + sha256_hex("old\n") +
                                                            "\nnew.txt\t/opt/pkg/new.txt\tabsent\n-\t/opt/pkg/b.txt\t" +
                                                            pin + "\n"));
  }
  [[nodiscard]] Profile profile(const std::string& more = "") const {
    const std::string text =
        "COMMAND='/bin/sh -c \"cat /opt/pkg/a.txt /opt/pkg/new.txt; (echo x >/opt/pkg/a.txt) 2>/dev/null && echo "
        "written || echo read-only; test $BK_KEY && echo has a key; exec /opt/bk/sim-engine --port {PORT} --knob "
        "GATEFUSE={GATEFUSE}\"'\nRUNTIME=podman\nIMAGE=localhost/bk:1\nREADY_TIMEOUT_S=60\nSTOP_GRACE_S=5\n"
        "MODULES=m\nTARGET_PREFIX=/opt/pkg\nAPI_KEY_ENV=BK_KEY\nDEPLOY_DIR=" +
        (dir.path() / "deploy").string() +
        "\nGATEFUSE=1\nGATEFUSE.values=\"0 1\"\nGATEFUSE.proof='log: ^proof GATEFUSE={VALUE}$'\n"
        "MARK=7\nMARK.any=yes\nMARK.env=BK_MARK\nMARK.proof=\"environ: BK_MARK\"\n" +
        more;
    auto parsed = parse_profile(text, (dir.path() / "profiles/lane.env").string(), {});
    INFO((parsed ? std::string() : parsed.error().text()));
    REQUIRE(parsed);
    return *parsed;
  }
  [[nodiscard]] Result<std::unique_ptr<Booted>> boot(const Profile& profile, int port = 0) const {
    BK_ASSIGN(const Arm arm, make_arm(profile, "cand", {{"MARK", "9"}}));
    LaunchOptions options;
    options.port = port;
    options.log_file = dir.path() / "engine.log";
    options.bin_dir = BK_BIN_DIR;
    options.api_key = key;
    return make_launcher(run_lock_dir())->boot(profile, arm, options);
  }
  void refused(const Profile& profile, const std::string& said) const {
    const auto booted = boot(profile);
    REQUIRE_FALSE(booted);
    CAPTURE(booted.error().text());
    CHECK(holds(booted.error().what, said));
  }
  [[nodiscard]] std::string log() const { return read_file(dir.path() / "engine.log").value_or(""); }
};

}  // namespace

TEST_CASE("an engine in a real container sees the overlay, read-only, and proves its knobs", "[.podman]") {
  BK_NEEDS_PODMAN();
  const LaneInPodman lane;
  auto booted = lane.boot(lane.profile());
  INFO((booted ? std::string() : booted.error().text()) << lane.log());
  REQUIRE(booted);
  CHECK(lane.log().starts_with("changed\nadded\nread-only\nhas a key\n"));
  const BootFacts& facts = (*booted)->facts();
  CHECK(facts.proofs.size() == 2);
  for (const Proof& proof : facts.proofs) {
    INFO(proof.knob << ": " << proof.reason);
    CHECK(proof.ok);
  }
  CHECK(facts.confirmed.at("MARK") == "9");
  CHECK(facts.port > 0);
  CHECK(facts.endpoint.base_url.ends_with(":" + std::to_string(facts.port)));
  CHECK(facts.fingerprint["overlay_release"].as_string() == "r");
  CHECK(facts.fingerprint["image_id"].as_string().value_or("").size() >= 64);
  CHECK(facts.fingerprint.find("image_id_reason") == nullptr);
  CHECK_FALSE(holds(facts.fingerprint.dump(), lane.key));
  CHECK(lane.podman.running() == "bracketkit-lane-0\n");
  CHECK(holds(read_file(run_lock_file(run_lock_dir())).value_or(""), "lane=lane\n"));
  CHECK((*booted)->stop());
  CHECK(lane.podman.running().empty());
  CHECK(test::eventually([] { return !fs::exists(run_lock_file(run_lock_dir())); }));
  // The image's own file is what it was.
  CHECK(lane.podman.podman({"run", "--rm", "--entrypoint", "cat", "localhost/bk:1", "/opt/pkg/a.txt"}).out == "old\n");
}

TEST_CASE("a container's port is the caller's, else the profile's, else a free one", "[.podman]") {
  BK_NEEDS_PODMAN();
  const LaneInPodman lane;
  const int of_profile = free_port("127.0.0.1").value(), of_caller = free_port("127.0.0.1").value();
  const Profile profile = lane.profile("PORT=" + std::to_string(of_profile) + "\n");
  for (const auto& [asked, got] : {std::pair(0, of_profile), std::pair(of_caller, of_caller)}) {
    auto booted = lane.boot(profile, asked);
    INFO((booted ? std::string() : booted.error().text()) << lane.log());
    REQUIRE(booted);
    CHECK((*booted)->facts().port == got);
    CHECK((*booted)->stop());
  }
}

TEST_CASE("an image that does not fit stops a boot before the lane's old container is touched", "[.podman]") {
  BK_NEEDS_PODMAN();
  const LaneInPodman lane;
  const auto sleeper = [&](const std::string& name, const std::string& of) {
    lane.podman.podman({"run", "--detach", "--rm", "--init", "--network", "host", "--name", name, "--label",
                        "bracketkit.lane=" + of, "--entrypoint", "/opt/bk/sim-engine", "localhost/bk:1", "--port",
                        "0"});
  };
  sleeper("bracketkit-lane-0", "lane");
  lane.refused(lane.profile("IMAGE_ID=sha256:" + std::string(64, '1') + "\n"), "IMAGE_ID is sha256:1111");
  lane.deploy(sha256_hex("another\n"));
  lane.refused(lane.profile(), "row 4: b.txt is " + sha256_hex("pinned\n") + " in the image, pinned is ");
  lane.deploy(sha256_hex("pinned\n"));
  sleeper("bracketkit-other-0", "other");
  lane.refused(lane.profile(), "container bracketkit-other-0 of lane other is there: stop that lane first");
  CHECK(lane.podman.running() == "bracketkit-lane-0\nbracketkit-other-0\n");
  CHECK(lane.log().empty());
  lane.podman.podman({"rm", "--force", "bracketkit-other-0"});
  auto booted = lane.boot(lane.profile());
  INFO((booted ? std::string() : booted.error().text()) << lane.log());
  REQUIRE(booted);
  CHECK(lane.podman.running() == "bracketkit-lane-0\n");
  CHECK((*booted)->stop());
}

TEST_CASE("a program that is killed takes its container with it", "[.podman]") {
  BK_NEEDS_PODMAN();
  const LaneInPodman lane;
  const Profile profile = lane.profile();
  const auto up = [&] {
    CHECK(test::eventually([&] { return holds(lane.log(), "\nready\n"); }));
    CHECK(lane.podman.running() == "bracketkit-lane-0\n");
  };
  const auto gone = [&] { CHECK(test::eventually([&] { return lane.podman.running().empty(); })); };
  test::kill_after_boot([&] { return lane.boot(profile); }, up, gone);
}
