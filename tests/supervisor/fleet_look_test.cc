#include "fleet_look.h"

#include <catch2/catch.hpp>

#include "base/process.h"

namespace bk::supervisor {
namespace {

boot::Profile lane(const std::string& lines) {
  auto profile = boot::parse_profile("COMMAND=x\nPORT=8000\n" + lines, "profiles/p.env", {});
  INFO((profile ? std::string() : profile.error().text()));
  REQUIRE(profile);
  return *profile;
}

}  // namespace

TEST_CASE("a lane of plain processes here has no fleet to wait for") {
  CHECK(look_at_fleet(lane(""), "."));
  CHECK(look_at_fleet(lane("NODES=local\n"), "."));
}

TEST_CASE("a node that does not answer is named, with what ssh says") {
  if (!run_captured({{"ssh", "-V"}, {}, "", ""}, 10 * kSecond)) {
    WARN("skipped: no ssh here");
    return;
  }
  const auto up = look_at_fleet(lane("NODES=\"local no-such-node.invalid\"\n"), ".");
  REQUIRE_FALSE(up);
  CHECK_THAT(up.error().what, Catch::StartsWith("node no-such-node.invalid: true gives exit code 255") &&
                                  Catch::Contains("no-such-node.invalid"));
}

TEST_CASE("a container service that does not answer is named, unless it runs here") {
  const auto asked = run_captured({{"sh", "-c", "podman info"}, {}, "", ""}, 20 * kSecond);
  REQUIRE(asked);
  const auto up = look_at_fleet(lane("RUNTIME=podman\nIMAGE=team/engine:v1\n"), ".");
  REQUIRE(up.has_value() == asked->exit.ok());
  if (!up) CHECK_THAT(up.error().what, Catch::StartsWith("node local: podman info gives exit code"));
}

}  // namespace bk::supervisor
