#include "cli/common_flags.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "base/file.h"

namespace bk::cli {
namespace {

struct Sink {
  std::ostringstream out, err;
  Streams streams{out, err};
};

Result<Connection> read(const ConnectionFlags& flags) {
  Sink sink;
  return read_connection(flags, sink.streams);
}

TEST_CASE("a program has the groups that it asks for and no other") {
  CommonFlags flags;
  App app("tool", "does things");
  flags.add_to(app, {Common::kFormat, Common::kSeed});
  Sink sink;
  REQUIRE(app.parse(sink.streams, {"--json", "--seed", "9"}));
  CHECK(flags.format == "json");
  CHECK(flags.seed == 9);
  App other("tool", "does things");
  flags.add_to(other, {Common::kSeed});
  const auto parsed = other.parse(sink.streams, {"--db", "x"});
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().what == "unknown flag --db");
}

TEST_CASE("every group registers at once without a clash") {
  CommonFlags flags;
  App app("tool", "does things");
  flags.add_to(
      app, {Common::kConnection, Common::kExtraBody, Common::kMetrics, Common::kSeed, Common::kReps, Common::kWarmup,
            Common::kDb, Common::kProfile, Common::kFormat, Common::kOut, Common::kDryRun, Common::kQuiet});
  Sink sink;
  REQUIRE(app.parse(sink.streams, {"--base-url", "http://127.0.0.1:9/v1/", "--dry-run", "-q", "--format", "csv"}));
  CHECK(flags.dry_run);
  CHECK(flags.quiet);
  CHECK(flags.format == "csv");
  CHECK(read(flags.connection)->base_url == "http://127.0.0.1:9");
}

TEST_CASE("a key comes from the environment or a private file") {
  const TempDir dir;
  const std::string path = (dir.path() / "key").string();
  const auto key_in_file = [&](std::string_view bytes, mode_t mode) {
    CHECK(write_file_atomic(path, bytes));
    chmod(path.c_str(), mode);
    ConnectionFlags flags;
    flags.api_key_file = path;
    return load_key(flags);
  };
  CHECK(key_in_file("sk-1", 0600).value() == "sk-1");
  CHECK(key_in_file("sk-1\n", 0400).value() == "sk-1");
  CHECK(key_in_file("sk-1\r\n", 0600).value() == "sk-1");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "the API key is empty"},
      {"\n", "the API key is empty"},
      {"sk-1\nsk-2\n", "the API key has more than one line; keep the key alone there"},
      {"sk 1", "the API key holds a blank or a byte that no header can carry"},
      {"sk-\xc3\xa9", "the API key holds a blank or a byte that no header can carry"},
  };
  for (const auto& [bytes, what] : wrong) {
    const auto key = key_in_file(bytes, 0600);
    CAPTURE(what);
    REQUIRE_FALSE(key);
    CHECK(key.error().code == Errc::kUsage);
    CHECK(key.error().what == what);
    CHECK(key.error().where == path);
  }
  const auto open_to_all = key_in_file("sk-1", 0644);
  REQUIRE_FALSE(open_to_all);
  CHECK(open_to_all.error().what == "the API key's file is open to others (mode 644); run: chmod 600 " + path);
}

TEST_CASE("what is no key is neither read to its end nor repeated") {
  ConnectionFlags flags;
  flags.api_key_file = "/dev/zero";
  CHECK(load_key(flags).error().what == "the API key's file is no file of at most 64 KiB");
  const TempDir dir;
  flags.api_key_file = (dir.path() / "large").string();
  REQUIRE(write_file_atomic(flags.api_key_file, std::string(100'000, 'k')));
  chmod(flags.api_key_file.c_str(), 0600);
  CHECK(load_key(flags).error().what == "the API key's file is no file of at most 64 KiB");
  flags.api_key_file.clear();
  flags.api_key_env = "sk-given-by-mistake";
  CHECK(load_key(flags).error().text() ==
        "the name of an environment variable is needed, not the key itself (--api-key-env)");
}

TEST_CASE("keys that are not there") {
  ConnectionFlags flags;
  CHECK(load_key(flags).value().empty());
  flags.api_key_env = "BK_CLI_TEST_KEY";
  unsetenv("BK_CLI_TEST_KEY");
  CHECK(load_key(flags).error().text() ==
        "the API key's environment variable is not set (--api-key-env BK_CLI_TEST_KEY)");
  setenv("BK_CLI_TEST_KEY", "", 1);
  CHECK(load_key(flags).error().what == "the API key is empty");
  setenv("BK_CLI_TEST_KEY", "sk-env", 1);
  CHECK(load_key(flags).value() == "sk-env");
  flags.api_key_file = "/nonexistent/key";
  CHECK(load_key(flags).error().code == Errc::kUsage);
  flags.api_key_env.clear();
  CHECK(load_key(flags).error().code == Errc::kIo);
  CHECK(load_key(flags).error().text() ==
        "the API key's file cannot be read: No such file or directory (/nonexistent/key)");
  unsetenv("BK_CLI_TEST_KEY");
}

TEST_CASE("credentials become secrets of the error line") {
  ConnectionFlags flags;
  setenv("BK_CLI_TEST_KEY", "sk-env", 1);
  flags.api_key_env = "BK_CLI_TEST_KEY";
  flags.header = {"Authorization: Bearer tok-9", "X-Trace: visible"};
  Sink sink;
  const auto connection = read_connection(flags, sink.streams);
  unsetenv("BK_CLI_TEST_KEY");
  REQUIRE(connection);
  CHECK(sink.streams.secrets == std::vector<std::string>{"sk-env", "Bearer tok-9", "tok-9"});
  CHECK(connection->headers[1] == std::pair<std::string, std::string>("X-Trace", "visible"));
}

TEST_CASE("connections that cannot be") {
  struct Case {
    std::string base_url, header, extra_body, text;
  };
  const std::vector<Case> cases = {
      {"127.0.0.1:8000", "", "", "\"127.0.0.1:8000\" is no URL; write http://HOST:PORT (--base-url)"},
      {"ftp://x", "", "", "\"ftp://x\" is no URL; write http://HOST:PORT (--base-url)"},
      {"http://", "", "", "\"http://\" names no host (--base-url)"},
      {"http://h:99999", "", "", "the port in \"h:99999\" is no number from 1 to 65535 (--base-url)"},
      {"http://[::1]:x/v1", "", "", "the port in \"[::1]:x\" is no number from 1 to 65535 (--base-url)"},
      {"http://h/?key=s", "", "",
       "a URL ends before ? and #; what a request needs goes into --header or --extra-body (--base-url)"},
      {"http://me:pw@h:1/v1", "", "",
       "a URL may not carry a password; use --api-key-env or --api-key-file (--base-url)"},
      {"http://h", "no colon", "", "a header is written \"Name: value\" (--header)"},
      {"http://h", ": v", "", "a header is written \"Name: value\" (--header)"},
      {"http://h", "A: x\r\nB: y", "", "the header A holds a control character (--header)"},
      {"http://h", "", "[1]", "a JSON object is needed, like {\"top_k\": 1} (--extra-body)"},
  };
  for (const Case& c : cases) {
    ConnectionFlags flags;
    flags.base_url = c.base_url;
    if (!c.header.empty()) flags.header = {c.header};
    flags.extra_body = c.extra_body;
    const auto connection = read(flags);
    CAPTURE(c.text);
    REQUIRE_FALSE(connection);
    CHECK(connection.error().code == Errc::kUsage);
    CHECK(connection.error().text() == c.text);
  }
  ConnectionFlags flags;
  flags.extra_body = "{not json";
  CHECK(read(flags).error().where == "--extra-body");
  flags.extra_body = R"({"top_k": 1})";
  CHECK(read(flags)->extra_body == flags.extra_body);
}

}  // namespace
}  // namespace bk::cli
