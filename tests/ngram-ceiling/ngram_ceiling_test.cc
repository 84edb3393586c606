#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "base/json.h"
#include "documents.h"
#include "run.h"
#include "support/priority_after.h"
#include "support/run_in_process.h"
#include "support/sim_engine.h"

namespace bk::ngram_ceiling {
namespace {

constexpr const char* kCurve = "78.5,56.4,39.6,28.6,21.5";

TEST_CASE("the law follows its curve, and bad curves are refused") {
  const AcceptLaw law = AcceptLaw::parse(kCurve, 5).value();
  const std::vector<double> p = law.pmf();
  REQUIRE(p.size() == 6);
  CHECK(p[0] == Approx(0.215));
  CHECK(p[5] == Approx(0.215));
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1.0));
  CHECK(law.mean() == Approx(2.246));
  double from_pmf = 0;
  for (std::size_t m = 0; m < p.size(); ++m) from_pmf += static_cast<double>(m) * p[m];
  CHECK(from_pmf == Approx(law.mean()));
  load::Random random(3);
  double sum = 0;
  for (int i = 0; i < 20000; ++i) sum += law.draw(random);
  CHECK(sum / 20000 == Approx(law.mean()).margin(0.05));
  for (const char* bad : {"78.5,56.4", "10,20,5,4,3", "120,50,40,30,20", "a,b,c,d,e", ""}) {
    CAPTURE(bad);
    CHECK(AcceptLaw::parse(bad, 5).error().code == Errc::kUsage);
  }
}

TEST_CASE("a repeat is found, extended backwards, and never looks ahead") {
  const Tokens tokens = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 9};
  NgramIndex index(tokens, {3, 16, 64});
  CHECK_FALSE(index.find(2));
  CHECK_FALSE(index.find(8));
  const auto match = index.find(11);
  REQUIRE(match);
  CHECK(match->length == 3);
  CHECK(match->position == 3);
  const Copy copy = copy_from(tokens, match->position, 11, 5);
  CHECK(copy.proposed == 5);
  CHECK(copy.accepted == 4);
  CHECK(index.find(13)->length == 5);
  // A run that overlaps itself: only tokens before t may be proposed.
  const Tokens run = {7, 7, 7, 7, 7, 7, 7};
  NgramIndex runs(run, {3, 16, 64});
  CHECK(runs.find(4)->position == 3);
  CHECK(copy_from(run, 3, 4, 5).proposed == 1);
}

TEST_CASE("the longest match wins, ties go to the later one, and old positions are forgotten") {
  const Tokens tokens = {9, 1, 2, 3, 5, 8, 1, 2, 3, 6, 4, 1, 2, 3, 7, 9, 1, 2, 3};
  NgramIndex index(tokens, {3, 16, 64});
  CHECK(index.find(19)->position == 4);  // four tokens: 9 1 2 3
  CHECK(index.find(19)->length == 4);
  NgramIndex short_memory(tokens, {3, 16, 2});  // the current position and one before it
  CHECK(short_memory.find(19)->position == 14);
  NgramIndex capped(tokens, {3, 3, 64});  // all three equally long
  CHECK(capped.find(19)->position == 14);
}

TEST_CASE("the future of a document never changes what is proposed") {
  Tokens tokens;
  load::Random random(11);
  for (int i = 0; i < 400; ++i) tokens.push_back(static_cast<std::int64_t>(random.below(4)));
  NgramIndex whole(tokens, {3, 16, 64});
  for (std::size_t t = 10; t < tokens.size(); t += 13) {
    const Tokens past(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t));
    NgramIndex cut(past, {3, 16, 64});
    const auto a = whole.find(t), b = cut.find(t);
    REQUIRE(a.has_value() == b.has_value());
    if (a) CHECK((a->position == b->position && a->length == b->length));
  }
}

TEST_CASE("policies: nothing to copy leaves the drafter alone, pure repetition is copied whole") {
  const AcceptLaw law = AcceptLaw::parse(kCurve, 5).value();
  Document unique, periodic;
  for (std::int64_t i = 0; i < 4000; ++i) {
    unique.tokens.push_back(i);
    periodic.tokens.push_back(i % 20);
  }
  unique.prompt = periodic.prompt = 64;
  const Config config;
  const Totals base = simulate(unique, law, config, Policy::kBase);
  CHECK(base.generated == 3936);
  CHECK(base.tokens_per_step().value() == Approx(1 + law.mean()).epsilon(0.05));
  CHECK(uplift_pct(simulate(unique, law, config, Policy::kHybrid), base) == 0.0);
  const Totals hybrid = simulate(periodic, law, config, Policy::kHybrid);
  CHECK(hybrid.steps == 3936 / 6);
  CHECK(hybrid.copy_share() == 1.0);
  CHECK(hybrid.accepted_when_copied() == Approx(5.0).epsilon(0.01));
  CHECK(simulate(periodic, law, config, Policy::kOracle).steps <= hybrid.steps);
  CHECK_FALSE(simulate({}, law, config, Policy::kBase).tokens_per_step());
  CHECK(clears(7.0));
  CHECK(clears(6.996));
  CHECK_FALSE(clears(6.994));
}

TEST_CASE("the program: verdicts, the server's tokens, and wrong input in one line") {
  const TempDir dir;
  const auto file = [&dir](const std::string& name, const std::string& bytes) {
    REQUIRE(write_file_atomic(dir.path() / name, bytes));
    return (dir.path() / name).string();
  };
  std::string repeated, prose;
  for (int i = 0; i < 60; ++i) repeated += "the same long line of text, over and over again\n";
  load::Random random(5);
  for (int i = 0; i < 3000; ++i) prose += static_cast<char>('a' + random.below(26));
  const auto ngram = [](const cli::Args& args) { return test::run_in_process("ngram-ceiling", run, args); };
  const test::Ran clear = ngram({"--mode", "chars", file("r.txt", repeated), "--json"});
  CHECK(clear.code == 0);
  CHECK(parse_json(clear.out).value()["verdict"].as_string() == "CLEARS");
  const test::Ran below = ngram({"--mode", "chars", file("p.txt", prose)});
  CHECK(below.code == 1);
  CHECK_THAT(below.out, Catch::Contains("=> BELOW: hybrid"));
  const test::SimEngine engine;
  const std::string line = Json::object().set("prompt", repeated).set("completion", repeated).dump();
  const test::Ran tokens = ngram({"--tokenize-url", engine.url(), file("t.jsonl", line + "\n"), "--json"});
  CHECK(tokens.code == 0);
  CHECK(parse_json(tokens.out).value()["documents"].as_int() == 1);
  struct Row {
    cli::Args args;
    int code;
    const char* text;
  };
  const Row rows[] = {
      {{file("s.txt", "short"), "--mode", "chars"}, 4, "nothing to generate"},
      {{file("r.txt", repeated)}, 2, "--tokenize-url"},
      {{file("r.txt", repeated), "--mode", "chars", "--threshold", "2"}, 2, "below --nmin"},
      {{file("r.txt", repeated), "--mode", "chars", "--k", "4"}, 2, "5 positions for 4 drafts"},
      {{file("b.jsonl", "{}"), "--mode", "chars"}, 2, "b.jsonl:1"},
      {{file("l.txt", "\xFF\xFE"), "--mode", "chars"}, 2, "not UTF-8"},
      {{"/nonexistent/x.txt", "--mode", "chars"}, 3, "/nonexistent/x.txt"},
      {{file("r.txt", repeated), "--tokenize-url", "http://127.0.0.1:1"}, 3, "127.0.0.1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const test::Ran ran = ngram(row.args);
    CHECK(ran.code == row.code);
    CHECK_THAT(ran.err, Catch::Contains(row.text));
  }
}

TEST_CASE("--nice leaves the processor and the disk to a serving engine") {
  const TempDir dir;
  const std::string path = (dir.path() / "r.txt").string();
  REQUIRE(write_file_atomic(path, std::string(4000, 'x')));
  const auto after = [&](cli::Args args) {
    return test::priority_after([&] { static_cast<void>(test::run_in_process("ngram-ceiling", run, args)); });
  };
  CHECK(after({"--mode", "chars", path}).nice == getpriority(PRIO_PROCESS, 0));
  const test::Priority seen = after({"--mode", "chars", path, "--nice"});
  CHECK(seen.nice == 19);
  CHECK(seen.io_class == 3);
}

}  // namespace
}  // namespace bk::ngram_ceiling
