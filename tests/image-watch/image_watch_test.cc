#include <catch2/catch.hpp>
#include <optional>

#include "base/process.h"
#include "boot/launcher.h"
#include "run.h"
#include "support/run_in_process.h"
#include "tags.h"

namespace bk::image_watch {
namespace {

std::string digest(char c) { return "sha256:" + std::string(64, c); }

Json row(const std::string& name, const std::string& digest_text, const std::string& updated) {
  return Json::object().set("name", name).set("digest", digest_text).set("last_updated", updated);
}

Json page(const std::vector<Json>& rows, const std::string& next = {}) {
  Json results = Json::array();
  for (const Json& each : rows) results.push(each);
  return Json::object().set("results", results).set("next", next.empty() ? Json() : Json(next));
}

const std::string kPath = "/v2/repositories/team/engine/tags";
const Json kTagOne = row("v1", digest('1'), "2026-08-12T03:04:05.123456Z");
const Json kTagTwo = row("v2", digest('2'), "2026-08-13T03:04:05Z");

/// A registry: answers the n-th request of the tag list with the n-th body and status. @URL@ in a body is its own URL.
class Registry {
 public:
  explicit Registry(const std::vector<std::pair<int, std::string>>& answers) {
    const int port = boot::free_port("127.0.0.1").value();
    url_ = "http://127.0.0.1:" + std::to_string(port);
    std::string script;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      std::string body = answers[i].second;
      if (const std::size_t at = body.find("@URL@"); at != std::string::npos) body.replace(at, 5, url_);
      script +=
          Json::object().set("path", kPath).set("request", i).set("status", answers[i].first).set("data", body).dump() +
          "\n";
    }
    REQUIRE(write_file_atomic(dir_.path() / "script", script));
    auto started = Process::start({{std::string(BK_BIN_DIR) + "/sim-engine", "--port", std::to_string(port), "--script",
                                    (dir_.path() / "script").string()},
                                   {},
                                   "",
                                   (dir_.path() / "log").string(),
                                   true});
    REQUIRE(started);
    process_.emplace(std::move(*started));
    const Nanos limit = monotonic_now() + 60 * kSecond;
    while (boot::check_port_free("127.0.0.1", port) && monotonic_now() < limit)
      SystemClock().sleep_until(monotonic_now() + 5 * kMillisecond);
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  test::Ran look(std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"team/engine",         "--registry",    url(), "--state-dir",
                                     dir_.path() / "state", "--retry-after", "0"};
    args.insert(args.end(), more.begin(), more.end());
    return test::run_in_process("image-watch", run, args);
  }
  [[nodiscard]] std::string state() const { return read_file(dir_.path() / "state/team_engine.tsv").value_or("none"); }
  [[nodiscard]] std::filesystem::path dir() const { return dir_.path(); }

 private:
  TempDir dir_;
  std::string url_;
  std::optional<Process> process_;
};

std::pair<int, std::string> ok(const Json& json) { return {200, json.dump()}; }

}  // namespace

TEST_CASE("what changed between two looks is named, a time alone is nothing") {
  const Tags before = {{"a", {"d1", "t1"}}, {"b", {"d2", "t1"}}, {"c", {"d3", "t1"}}};
  const Tags after = {{"a", {"d1", "t2"}}, {"b", {"d9", "t2"}}, {"d", {"d4", "t2"}}};
  CHECK(changes(before, after) ==
        std::vector<std::string>{"REPUSHED b d2 -> d9 t2", "REMOVED c d3", "NEW TAG d d4 t2"});
  CHECK(changes(before, before).empty());
}

TEST_CASE("the state file comes back as it was, and a damaged one is refused by line") {
  const Tags tags = {{"v1", {digest('1'), "2026-08-12T03:04:05"}}, {"v2", {digest('2'), ""}}};
  CHECK(parse_state(state_text(tags), "s").value().at("v1").digest == digest('1'));
  CHECK(state_text(parse_state(state_text(tags), "s").value()) == state_text(tags));
  for (const char* bad :
       {"v1\td\tt\nv1\td\tt\n", "v1\td\tt\nv1 d t\n", "v1\td\tt\n\td\tt\n", "v1\td\tt\na\tb\tc\td\n"}) {
    const auto parsed = parse_state(bad, "s");
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().where == "s:2");
  }
  const auto cut = parse_state("", "s");
  REQUIRE_FALSE(cut);
  CHECK_THAT(cut.error().text(), Catch::Contains("remove the file to start anew"));
}

TEST_CASE("a page that is none is refused") {
  for (const char* bad :
       {"", "[]", "{}", "{\"results\": 5}", "{\"results\": [{\"name\": \"a\"}]}",
        "{\"results\": [{\"digest\": \"d\"}]}", "{\"results\": [{\"name\": \"a\\nREMOVED b\", \"digest\": \"d\"}]}",
        "{\"results\": [{\"name\": \"a\", \"digest\": \"d\\u001b[2J\"}]}"}) {
    INFO(bad);
    CHECK_FALSE(parse_page(bad));
  }
  const auto nested = parse_page("{\"results\": [{\"name\": \"a\", \"images\": [{\"digest\": \"d\"}]}]}");
  REQUIRE(nested);
  CHECK(nested->tags.at("a").digest == "d");
}

TEST_CASE("first look, no change, change: exit codes 0, 0, 1, and what is told") {
  Registry registry({ok(page({kTagOne})), ok(page({kTagOne})),
                     ok(page({row("v1", digest('9'), "2026-09-01T00:00:00Z")})), ok(page({kTagTwo}))});
  const auto first = registry.look();
  INFO(first.err);
  CHECK(first.code == 0);
  CHECK(first.out == "team/engine: 1 tags recorded\n");
  CHECK(registry.state() == "v1\t" + digest('1') + "\t2026-08-12T03:04:05\n");
  const auto second = registry.look();
  CHECK(second.code == 0);
  CHECK(second.out == "team/engine: 1 tags, no change\n");
  const std::string flag = registry.dir() / "CHANGED";
  const auto third = registry.look({"--flag-file", flag});
  CHECK(third.code == 1);
  CHECK(third.out == "REPUSHED v1 " + digest('1') + " -> " + digest('9') + " 2026-09-01T00:00:00\n");
  CHECK_THAT(read_file(flag).value(), Catch::Contains("team/engine\nREPUSHED v1"));
  const auto fourth = registry.look({"--flag-file", flag, "--json"});
  CHECK(fourth.code == 1);
  CHECK(parse_json(fourth.out).value()["changes"].items().size() == 2);
  CHECK_THAT(read_file(flag).value(), Catch::Contains("NEW TAG v2") && Catch::Contains("REMOVED v1"));
}

TEST_CASE("pages are followed, to their end and on their own host only") {
  Registry registry({ok(page({kTagOne}, "@URL@" + kPath + "?page=2")), ok(page({kTagTwo}))});
  CHECK(registry.look().out == "team/engine: 2 tags recorded\n");

  Registry away({ok(page({kTagOne}, "http://elsewhere.invalid/v2/x"))});
  const auto refused = away.look();
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("the next page is on another host"));
  CHECK(away.state() == "none");

  const auto again = ok(page({kTagOne}, "@URL@" + kPath + "?page=2"));
  Registry endless({again, again, again});
  const auto stopped = endless.look();
  CHECK(stopped.code == 3);
  CHECK_THAT(stopped.err, Catch::Contains("pages never end"));
}

TEST_CASE("a look that fails is tried once more and changes nothing") {
  Registry registry({ok(page({kTagOne})),
                     {503, "busy"},
                     ok(page({kTagOne})),
                     {503, "busy"},
                     {503, "busy"},
                     ok(page({})),
                     {200, "<html>"},
                     {200, "<html>"}});
  REQUIRE(registry.look().code == 0);
  const std::string state = registry.state();
  CHECK(registry.look().code == 0);
  const auto twice = registry.look();
  CHECK(twice.code == 3);
  CHECK_THAT(twice.err, Catch::Contains("the registry answered HTTP 503"));
  const auto empty = registry.look();
  CHECK(empty.code == 3);
  CHECK_THAT(empty.err, Catch::Contains("lists no tag: taken as an error, not as removals"));
  CHECK(registry.look().code == 3);
  CHECK(registry.state() == state);
}

TEST_CASE("a report that cannot be delivered is told again by the next look") {
  Registry registry({ok(page({kTagOne})), ok(page({kTagTwo})), ok(page({kTagTwo}))});
  REQUIRE(registry.look().code == 0);
  const auto lost = registry.look({"--post", "http://127.0.0.1:1/hook/secret-token"});
  CHECK(lost.code == 3);
  CHECK_THAT(lost.err, Catch::Contains("the report was not posted") && !Catch::Contains("secret-token"));
  CHECK(registry.look().code == 1);
}

TEST_CASE("an image's name cannot leave the state folder or the registry's path") {
  for (const char* bad : {"engine", "a/b/c", "../x", "a/..", "A/b", "a/b?x", ""}) {
    INFO(bad);
    CHECK(test::run_in_process("image-watch", run, {bad, "--registry", "http://127.0.0.1:1"}).code == 2);
  }
}

}  // namespace bk::image_watch
