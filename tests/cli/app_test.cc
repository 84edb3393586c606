#include "cli/app.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "base/version.h"

namespace bk::cli {
namespace {

struct Sink {
  std::ostringstream out, err;
  Streams streams{out, err};
};

struct Values {
  bool quick = false;
  std::string name = "a";
  std::int64_t reps = 5;
  double rate = 1.5;
  std::optional<double> limit;
  std::vector<std::int64_t> sizes = {1};
  std::vector<std::string> headers;
  std::string mode = "table";
  std::string file;
};

Result<Parsed> parse(Values& v, const Args& args, Sink& sink) {
  App app("tool", "does things");
  app.flag("-q,--quick", v.quick, "be quick");
  app.option("--name", v.name, "a name").env("BK_CLI_TEST_NAME");
  app.option("-n,--reps", v.reps, "repetitions").range(1, 100);
  app.option("--rate", v.rate, "a rate").at_least(0);
  app.option("--limit", v.limit, "a limit");
  app.option("--sizes", v.sizes, "sizes");
  app.option("--header", v.headers, "headers");
  app.option("--mode", v.mode, "form").choices({"table", "json"});
  app.positional("FILE", v.file, "input");
  return app.parse(sink.streams, args);
}

TEST_CASE("flags of every kind reach their variables") {
  Values v;
  Sink sink;
  const auto parsed = parse(v,
                            {"-q", "--name=x y", "-n", "7", "--rate", "-0", "--limit", "2.5", "--sizes", "1,2,4",
                             "--sizes", "8", "--header", "A: 1", "--header", "B: [2,3]", "--mode", "json", "in.txt"},
                            sink);
  REQUIRE(parsed);
  CHECK(*parsed == Parsed::kRun);
  CHECK(v.quick);
  CHECK(v.name == "x y");
  CHECK(v.reps == 7);
  CHECK(v.limit == 2.5);
  CHECK(v.sizes == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(v.headers == std::vector<std::string>{"A: 1", "B: [2,3]"});
  CHECK(v.mode == "json");
  CHECK(v.file == "in.txt");
}

TEST_CASE("defaults stay when nothing is given") {
  Values v;
  Sink sink;
  REQUIRE(parse(v, {}, sink));
  CHECK(v.reps == 5);
  CHECK(v.sizes == std::vector<std::int64_t>{1});
  CHECK_FALSE(v.limit);
  CHECK_FALSE(v.quick);
}

TEST_CASE("the environment stands in for an absent flag only") {
  REQUIRE(setenv("BK_CLI_TEST_NAME", "from-env", 1) == 0);
  Sink sink;
  Values absent, given;
  REQUIRE(parse(absent, {}, sink));
  CHECK(absent.name == "from-env");
  REQUIRE(parse(given, {"--name", "from-flag"}, sink));
  CHECK(given.name == "from-flag");
  unsetenv("BK_CLI_TEST_NAME");
}

TEST_CASE("wrong usage is one line that names the flag and what to do") {
  const std::vector<std::pair<Args, std::string>> cases = {
      {{"--rep", "3"}, "unknown flag --rep; did you mean --reps? (see tool --help)"},
      {{"-z", "3"}, "unknown flag -z (see tool --help)"},
      {{"--raet=3"}, "unknown flag --raet; did you mean --rate? (see tool --help)"},
      {{"--zzzzzzzzzz"}, "unknown flag --zzzzzzzzzz (see tool --help)"},
      {{"--reps", "many"}, "--reps: \"many\" is not a whole number (see tool --help)"},
      {{"--reps", "2.5"}, "--reps: \"2.5\" is not a whole number (see tool --help)"},
      {{"--reps", "99999999999999999999"}, "--reps: \"99999999999999999999\" is not a whole number (see tool --help)"},
      {{"--reps", "0"}, "--reps: 0 is below the least allowed, 1 (see tool --help)"},
      {{"--reps", "101"}, "--reps: 101 is above the most allowed, 100 (see tool --help)"},
      {{"--rate", "nan"}, "--rate: \"nan\" is not a number (see tool --help)"},
      {{"--rate", "-1"}, "--rate: -1 is below the least allowed, 0 (see tool --help)"},
      {{"--reps"}, "--reps needs a value (see tool --help)"},
      {{"--name", "--quick"}, "--name needs a value, but the flag --quick follows (see tool --help)"},
      {{"--reps", "1", "--reps", "2"}, "--reps is given 2 times (see tool --help)"},
      {{"--sizes", "1,,2"}, "--sizes: \"\" is not a whole number (see tool --help)"},
      {{"--mode", "jsn"}, "--mode: \"jsn\" is none of table, json; did you mean json? (see tool --help)"},
      {{"a", "b"}, "unexpected argument b (see tool --help)"},
  };
  for (const auto& [args, text] : cases) {
    Values v;
    Sink sink;
    const auto parsed = parse(v, args, sink);
    CAPTURE(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::kUsage);
    CHECK(parsed.error().text() == text);
    CHECK(sink.out.str().empty());
  }
}

TEST_CASE("--help and --version answer on standard output") {
  Values v;
  Sink help, version_sink;
  CHECK(parse(v, {"--help"}, help) == Parsed::kAnswered);
  for (const char* part :
       {"NAME\n       tool - does things\n", "SYNOPSIS\n       tool [OPTION]... [FILE]\n",
        "-n, --reps N\n              repetitions [1 to 100; default: 5]\n",
        "a name [environment: BK_CLI_TEST_NAME; default: a]", "--mode table|json\n", "EXIT STATUS\n"}) {
    CAPTURE(part);
    CHECK(help.out.str().find(part) != std::string::npos);
  }
  CHECK(parse(v, {"--version"}, version_sink) == Parsed::kAnswered);
  CHECK(version_sink.out.str() == std::string("tool ") + version() + " (" + commit() + ")\n");
}

struct Commands {
  std::string db = "results.db";
  std::int64_t boots = 3;
  std::string id;
  std::string chosen;
};

Result<Parsed> parse_commands(Commands& c, const Args& args, Sink& sink) {
  App app("bracket", "judges a knob");
  App& run = app.subcommand("run", "runs one");
  run.option("--boots", c.boots, "boots");
  run.option("--db", c.db, "database");
  App& show = app.subcommand("show", "shows one");
  show.positional("ID", c.id, "which").required();
  const auto parsed = app.parse(sink.streams, args);
  c.chosen = app.chosen();
  return parsed;
}

TEST_CASE("subcommands have flags of their own") {
  Commands c;
  Sink sink;
  REQUIRE(parse_commands(c, {"run", "--boots", "5"}, sink));
  CHECK(c.chosen == "run");
  CHECK(c.boots == 5);
  REQUIRE(parse_commands(c, {"show", "17"}, sink));
  CHECK(c.chosen == "show");
  CHECK(c.id == "17");
}

TEST_CASE("wrong subcommands") {
  const std::vector<std::pair<Args, std::string>> cases = {
      {{}, "a command is missing: run, show (see bracket --help)"},
      {{"rn"}, "unknown command rn; did you mean run? (see bracket --help)"},
      {{"--boots", "3"}, "unknown flag --boots (see bracket --help)"},
      {{"run", "--boot", "3"}, "unknown flag --boot; did you mean --boots? (see bracket run --help)"},
      {{"run", "show"}, "two commands at once: run and show (see bracket --help)"},
      {{"show"}, "ID is missing (see bracket show --help)"},
  };
  for (const auto& [args, text] : cases) {
    Commands c;
    Sink sink;
    const auto parsed = parse_commands(c, args, sink);
    CAPTURE(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().text() == text);
  }
}

TEST_CASE("a subcommand's help is its own") {
  Commands c;
  Sink sink;
  CHECK(parse_commands(c, {"run", "--help"}, sink) == Parsed::kAnswered);
  CHECK(sink.out.str().find("bracket run - runs one") != std::string::npos);
  CHECK(sink.out.str().find("--boots N") != std::string::npos);
}

}  // namespace
}  // namespace bk::cli
