#include "boot/container.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "boot/arm.h"
#include "boot/preflight.h"
#include "boot/ssh.h"
#include "boot/words.h"

using namespace bk;
using namespace bk::boot;

namespace {

const std::string kHash(64, 'a');

Container full(Runtime cli) {
  Container container;
  container.cli = cli;
  container.name = "bracketkit-dsv4-1";
  container.image = "sha256:" + kHash;
  container.lane = "dsv4";
  container.arm = "cand";
  container.rank = 1;
  container.flags = {"--gpus", "all", "--ipc", "host"};
  container.mounts = {"/data/models:/models:ro", "/var/cache/triton:/cache/triton:rw"};
  container.overlay_dir = "/opt/bracketkit/deploy/dsv4/releases/r";
  container.package_root = "/opt/venv/lib/python3.12/site-packages/vllm";
  container.overlay = {{2, manifest::RowKind::kReplace, "attention.py", "model/attention.py", kHash},
                       {3, manifest::RowKind::kVerify, "", "config.py", kHash},
                       {4, manifest::RowKind::kAdd, "extra.py", "extra.py", ""}};
  container.env = {{"GATEFUSE", "1"}, {"NOTE", "two words"}};
  container.secret_env = {"VLLM_API_KEY"};
  container.command = {"vllm", "serve", "/models/x", "--port", "8000"};
  return container;
}

}  // namespace

TEST_CASE("the command lines of docker and podman, word by word") {
  for (const auto& [cli, name] : {std::pair(Runtime::kDocker, "docker"), std::pair(Runtime::kPodman, "podman")}) {
    const std::vector<std::string> kWanted = {
        name,
        "run",
        "--rm",
        "--init",
        "--name",
        "bracketkit-dsv4-1",
        "--label",
        "bracketkit.lane=dsv4",
        "--label",
        "bracketkit.arm=cand",
        "--label",
        "bracketkit.rank=1",
        "--network",
        "host",
        "--gpus",
        "all",
        "--ipc",
        "host",
        "--mount",
        "type=bind,source=/data/models,target=/models,readonly",
        "--mount",
        "type=bind,source=/var/cache/triton,target=/cache/triton",
        "--mount",
        "type=bind,source=/opt/bracketkit/deploy/dsv4/releases/r/attention.py,"
        "target=/opt/venv/lib/python3.12/site-packages/vllm/model/attention.py,readonly",
        "--mount",
        "type=bind,source=/opt/bracketkit/deploy/dsv4/releases/r/extra.py,"
        "target=/opt/venv/lib/python3.12/site-packages/vllm/extra.py,readonly",
        "--env",
        "GATEFUSE=1",
        "--env",
        "NOTE=two words",
        "--env",
        "VLLM_API_KEY",
        "--entrypoint",
        "vllm",
        "sha256:" + kHash,
        "serve",
        "/models/x",
        "--port",
        "8000"};
    CHECK(run_argv(full(cli)) == kWanted);
    const std::string program = name;
    using Words = std::vector<std::string>;
    CHECK(stop_argv(cli, "c", 10) == Words{program, "stop", "--time", "10", "c"});
    CHECK(remove_argv(cli, "c") == Words{program, "rm", "--force", "c"});
    CHECK(environment_argv(cli, "c") == Words{program, "exec", "c", "cat", "/proc/1/environ"});
    CHECK(image_id_argv(cli, "i:1") == Words{program, "image", "inspect", "--format", "{{.Id}}", "i:1"});
  }
  CHECK(list_argv(Runtime::kDocker).back() == "{{.Names}} {{.Label \"bracketkit.lane\"}}");
  CHECK(list_argv(Runtime::kPodman).back() == "{{.Names}} {{index .Labels \"bracketkit.lane\"}}");
}

TEST_CASE("docker's own command line understands every word") {
  const auto version = run_captured({{"docker", "--version"}, {}, "", "", false}, 20 * kSecond);
  if (!version || !version->exit.ok()) {
    std::puts("docker is not installed: its parser was not asked");
    return;
  }
  // Words are parsed before the daemon is looked for, which is named to be none.
  const std::map<std::string, std::string> nowhere = {{"DOCKER_HOST", "unix:///nonexistent/docker.sock"}};
  for (const auto& argv :
       {run_argv(full(Runtime::kDocker)), stop_argv(Runtime::kDocker, "c", 10), remove_argv(Runtime::kDocker, "c"),
        image_id_argv(Runtime::kDocker, "i:1"), environment_argv(Runtime::kDocker, "c"), list_argv(Runtime::kDocker),
        attest_argv(Runtime::kDocker, "i:1")}) {
    const auto ran = run_captured({argv, nowhere, "", "", false}, 20 * kSecond);
    REQUIRE(ran);
    CAPTURE(argv, ran->err);
    CHECK_FALSE(ran->exit.ok());
    CHECK(ran->err.find("nonexistent/docker.sock") != std::string::npos);
    CHECK(ran->err.find("unknown") == std::string::npos);
  }
}

/// As a boot on nodes makes it, for the rank's command of a shipped lane.
Container shipped(const std::string& lane, int rank) {
  const auto profile = load_profile(std::string(BK_SOURCE_DIR) + "/profiles/" + lane + ".env", ".", {});
  REQUIRE(profile);
  const auto arm = make_arm(*profile, "base", {});
  REQUIRE(arm);
  BootVariables variables;
  variables.port = profile->port;
  variables.rank = rank;
  variables.node_count = 4;
  const auto command = resolve_command(*profile, *arm, variables);
  REQUIRE(command);
  Container container = full(profile->runtime);
  container.flags = split_words(profile->container_flags).value();
  // Of a device the parser asks the daemon for its system, before it reads on.
  const auto device = std::find(container.flags.begin(), container.flags.end(), "--device");
  if (device != container.flags.end()) container.flags.erase(device, device + 2);
  container.mounts = profile->mounts;
  container.image = profile->image;
  container.env = command->env;
  container.command = command->argv;
  return container;
}

TEST_CASE("the shipped lanes' containers are such that docker's own command line takes them") {
  if (!run_captured({{"docker", "--version"}, {}, "", "", false}, 20 * kSecond)) {
    std::puts("docker is not installed: its parser was not asked");
    return;
  }
  const std::map<std::string, std::string> nowhere = {{"DOCKER_HOST", "unix:///nonexistent/docker.sock"}};
  for (const char* lane : {"dsv4", "glm53", "qwen38"}) {
    for (const int rank : {0, 3}) {
      const auto argv = run_argv(shipped(lane, rank));
      const auto ran = run_captured({argv, nowhere, "", "", false}, 20 * kSecond);
      REQUIRE(ran);
      CAPTURE(lane, argv, ran->err);
      CHECK_THAT(complaint(ran->err), Catch::Contains("nonexistent/docker.sock"));
    }
  }
}

TEST_CASE("the reason among what a command line complains of") {
  CHECK(complaint("docker: no such image.\n\nRun 'docker run --help' for more information\n") ==
        "docker: no such image.");
  CHECK(complaint("Trying to pull x\nError: name unknown\n") == "Error: name unknown");
  CHECK(complaint("\n") == "no reason given");
}

TEST_CASE("what a throwaway container says of an image is compared row by row") {
  const auto rows = full(Runtime::kDocker).overlay;
  const std::vector<std::string> good = {kHash + "  /p/model/attention.py", kHash + "  /p/config.py",
                                         "absent  /p/extra.py"};
  CHECK(attestation_fault(rows, "/p", good).empty());
  struct Case {
    std::size_t line;
    std::string says;
    const char* fault;
  };
  const Case kCases[] = {
      {0, std::string(64, 'b') + "  /p/model/attention.py", "row 2: model/attention.py is bbbb"},
      {0, "absent  /p/model/attention.py", "row 2: model/attention.py is absent in the image"},
      {0, "link  /p/model/attention.py", "row 2: model/attention.py is link in the image"},
      {1, "other  /p/config.py", "row 3: config.py is other in the image"},
      {2, "link  /p/extra.py", "row 4: extra.py is link in the image, pinned is absent"},
      {2, kHash + "  /p/extra.py", "row 4: extra.py is aaaa"},
      {2, "", "row 4: extra.py is unread in the image"},
  };
  for (const Case& c : kCases) {
    auto lines = good;
    lines[c.line] = c.says;
    CAPTURE(c.says);
    CHECK_THAT(attestation_fault(rows, "/p", lines), Catch::StartsWith(c.fault));
  }
}

TEST_CASE("the throwaway container's script tells files, links, folders and nothing apart") {
  const TempDir dir;
  REQUIRE(write_file_atomic(dir.path() / "file", "x\n"));
  REQUIRE(symlink("file", (dir.path() / "link").c_str()) == 0);
  REQUIRE(symlink("nowhere", (dir.path() / "dangling").c_str()) == 0);
  REQUIRE(make_directories(dir.path() / "folder"));
  std::string input;
  for (const char* name : {"file", "link", "dangling", "folder", "none"}) input += (dir.path() / name).string() + "\n";
  const auto ran =
      run_captured({{"sh", "-c", attest_argv(Runtime::kDocker, "i").back()}, {}, "", "", false}, 20 * kSecond, input);
  REQUIRE(ran);
  std::vector<std::string> kinds;
  for (const std::string_view line : split_lines(ran->out)) kinds.emplace_back(line.substr(0, line.find(' ')));
  CHECK(kinds == std::vector<std::string>{sha256_file(dir.path() / "file").value(), "link", "link", "other", "absent"});
}

TEST_CASE("ssh is told to ask nothing, to know the host, and gets one quoted command line") {
  const auto argv = ssh_argv({"/etc/k/config"}, "root@n1", "echo \"$1\" it's", {"two words", ""});
  CHECK(argv.front() == "ssh");
  for (const char* option : {"BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=5", "ControlMaster=no"}) {
    CHECK(std::find(argv.begin(), argv.end(), option) != argv.end());
  }
  CHECK(argv[argv.size() - 2] == "root@n1");
  CHECK(argv[argv.size() - 3] == "--");
  CHECK(argv.back() == "exec sh -c 'echo \"$1\" it'\\''s' bracketkit 'two words' ''");
  const auto here = ssh_argv({}, kLocalNode, "echo $1", {"x"});
  CHECK(here == std::vector<std::string>{"sh", "-c", "echo $1", "bracketkit", "x"});
}
