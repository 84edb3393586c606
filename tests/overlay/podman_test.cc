#include "audit.h"
#include "base/json.h"
#include "container_sources.h"
#include "hex.h"
#include "image_tree.h"
#include "lane_fixture.h"
#include "support/podman_here.h"

namespace bk::overlay {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a look in a container is read line by line") {
  CHECK(from_hex("") == "");
  CHECK(from_hex("00ff7f0a") == std::string("\0\xff\x7f\n", 4));
  for (const char* bad : {"0", "0g", "FF", " 00", "0x"}) CHECK_FALSE(from_hex(bad));
  const auto found = read_look("/a/utils.py\t6162\n/b/utils.py\t\n");
  REQUIRE(found);
  CHECK(*found == std::map<std::string, std::string>{{"/a/utils.py", "ab"}, {"/b/utils.py", ""}});
  for (const char* bad : {"/a\t616", "/a", "Traceback\n"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_look(bad));
  }
  const auto argv = look_argv(boot::Runtime::kDocker, "c", "python3", {"b.py", "a.py"});
  CHECK(std::vector(argv.begin(), argv.begin() + 6) ==
        std::vector<std::string>{"docker", "exec", "c", "python3", "-I", "-c"});
  CHECK(std::vector(argv.end() - 2, argv.end()) == std::vector<std::string>{"a.py", "b.py"});
}

TEST_CASE("what an image says of its files makes a tree") {
  const auto paths = look_paths({"m/sub/a.py", "m/l/b.py", "c.py"});
  CHECK(paths == std::set<std::string>{"c.py", "m", "m/l", "m/l/b.py", "m/sub", "m/sub/a.py"});
  const std::string good =
      "folder /p\nabsent /p/c.py\nfolder /p/m\nlink /p/m/l\nfile /p/m/l/b.py 62\nfolder /p/m/sub\n";
  const auto tree = ImageTree::read("i:1", "/p", paths, good + "file /p/m/sub/a.py 610a\n");
  REQUIRE(tree);
  CHECK((*tree)->name() == "the image i:1");
  CHECK((*tree)->read("m/sub/a.py") == "a\n");
  CHECK((*tree)->look("c.py")->kind == manifest::NodeKind::kAbsent);
  CHECK((*tree)->look("m/l/b.py")->kind == manifest::NodeKind::kSymlink);
  CHECK((*tree)->look("m/l/b.py")->at == "m/l");
  CHECK_FALSE(ImageTree::read("i:1", "/p", paths, good));
  CHECK_FALSE(ImageTree::read("i:1", "/p", paths, good + "file /p/m/sub/a.py 610\n"));
  CHECK_FALSE(ImageTree::read("i:1", "/p", paths, "absent /p\n"));
}

/// The lane's package as the image has it: a.txt, b.txt below /opt/pkg.
void make_lane_of_image(const LaneFixture& lane) {
  lane.write("profiles/p.env",
             "COMMAND=x\nRUNTIME=podman\nIMAGE=localhost/bk:1\nTARGET_PREFIX=/opt/pkg\nMODULES=one\n");
  lane.write("overlay/modules/one/manifest.tsv",
             "a.py\ta.txt\t" + sha256_hex("old\n") + "\n-\tb.txt\t" + sha256_hex("pinned\n") + "\n");
}

TEST_CASE("pins are checked against a container image, and its files are compared", "[.podman]") {
  BK_NEEDS_PODMAN();
  const LaneFixture lane;
  make_lane_of_image(lane);
  const auto with_image = [&](const std::string& command, const std::string& image) {
    return overlay_program({command, lane.profile(), "--container-image", image, "--runtime", "podman"});
  };
  const Ran fits = with_image("verify", "localhost/bk:1");
  CAPTURE(fits.out, fits.err);
  CHECK(fits.code == 0);
  CHECK(fits.out == "the image localhost/bk:1 fits: 2 rows of 1 modules\n");
  CHECK(holds(with_image("diff", "localhost/bk:1").out, "-old\n+def f():\n"));
  lane.write("overlay/modules/one/manifest.tsv",
             "a.py\ta.txt\tabsent\n-\tb.txt\t" + sha256_hex("pinned\r\n") + "\n-\tc/d.txt\t" + sha256_hex("x") + "\n");
  const Ran drifted = with_image("verify", "localhost/bk:1");
  CHECK(drifted.code == 1);
  CHECK(holds(drifted.out, "row 1: a.txt: must be absent, but a file is there"));
  CHECK(holds(drifted.out, "its CRLF form would match"));
  CHECK(holds(drifted.out, "row 3: c/d.txt: is pinned, but no such file is there"));
  const Ran none = with_image("verify", "localhost/no-such:1");
  CHECK(none.code == 3);
  CHECK(holds(none.err, "(podman localhost/no-such:1)"));
  CHECK(test::PodmanHere::get().running().empty());
}

TEST_CASE("the audit reads the sources of a running container", "[.podman]") {
  BK_NEEDS_PODMAN();
  const auto& here = test::PodmanHere::get();
  const LaneFixture lane;
  std::map<std::string, std::string> files;
  for (const GuardSample& sample : guard_samples()) files[sample.file] += sample.good;
  for (const auto& [name, text] : files) lane.write("engine/layers/" + name, text);
  // The image has no Python of its own: this machine's is shown to it.
  here.podman({"run", "--detach", "--rm", "--init", "--network", "host", "--name", "bk-audit", "--volume",
               "/usr:/usr:ro", "--volume", (lane.root / "engine").string() + ":/workspace:ro", "--entrypoint",
               "/opt/bk/sim-engine", "localhost/bk:1", "--port", "0"});
  const auto audit_it = [](const std::string& name) {
    return overlay_program({"audit", "--container", name, "--runtime", "podman", "--json"});
  };
  const Ran good = audit_it("bk-audit");
  CAPTURE(good.out, good.err);
  CHECK(good.code == 0);
  CHECK(holds(good.out, "\"file\": \"/workspace/layers/sample/gumbel.py\""));
  lane.write("engine/layers/sample/gumbel.py", "x = 1\n");
  CHECK(audit_it("bk-audit").code == 1);
  REQUIRE(std::filesystem::remove(lane.root / "engine/layers/sample/gumbel.py"));
  const Ran unknown = audit_it("bk-audit");
  CHECK(unknown.code == 4);
  CHECK(holds(unknown.out, "\"UNKNOWN\""));
  here.podman({"stop", "--time", "5", "bk-audit"});
  const Ran gone = audit_it("bk-audit");
  CHECK(gone.code == 3);
  CHECK(holds(gone.err, "(podman bk-audit)"));
  here.podman({"run", "--detach", "--rm", "--init", "--network", "host", "--name", "bk-bare", "--entrypoint",
               "/opt/bk/sim-engine", "localhost/bk:1", "--port", "0"});
  const Ran bare = audit_it("bk-bare");
  CHECK(bare.code == 3);
  CHECK(holds(bare.err, "no Python of the container answers"));
  here.podman({"stop", "--time", "5", "bk-bare"});
}

}  // namespace
}  // namespace bk::overlay
