#include "ledger/facts.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "ledger/text_files.h"
#include "ledger/verdict_words.h"
#include "run_ledger.h"
#include "store/store.h"

using namespace bk;
using namespace bk::ledger;

namespace {

constexpr const char* kFacts = BK_SOURCE_DIR "/tests/fixtures/ledger-facts.tsv";
const std::string kHeader =
    "date\tlane\taxis\tmetric\tunit\tbase1\tcand\tbase2\tdelta_pct\tacceptance\tverdict\tsource\treason\n";

Error refusal(const std::string& rows) {
  const auto parsed = parse_facts(kHeader + rows, "f.tsv");
  REQUIRE_FALSE(parsed);
  return parsed.error();
}

}  // namespace

TEST_CASE("every decision of the older ledger comes in once, with its own word") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  store::Database db = store::Database::open(path).value();
  CHECK(import_path(db, kFacts).value().brackets == 161);
  CHECK(import_path(db, kFacts).value().added == 0);
  const auto brackets = db.list_brackets().value();
  REQUIRE(brackets.size() == 161);
  std::map<std::string, int> words;
  std::set<std::string> originals;
  for (const auto& b : brackets) {
    REQUIRE(b.verdict);
    CHECK(b.bracket.source.find("ledger-facts.tsv (") == 0);
    CHECK_FALSE(b.bracket.imported_json.empty());
    CHECK(verdict_of(b.verdict->original_word) == b.verdict->word);
    ++words[b.verdict->word];
    originals.insert(b.verdict->original_word);
  }
  // Counted from the file's verdict column: 58 + 1 + 1 adopted; 44 + 8 + 1 + 1 + 1 rejected; 12 + 10 + 3 + 3 + 2 + 1
  // neutral; 3 + 1 invalid; 3 + 1 unavailable; 3 + 1 + 1 + 1 + 1 deferred.
  CHECK(words ==
        std::map<std::string, int>{
            {"adopted", 60}, {"deferred", 7}, {"invalid", 4}, {"neutral", 31}, {"rejected", 55}, {"unavailable", 4}});
  CHECK(originals.size() == 23);

  // The historical anchor 62.11 / 64.28 / 62.14.
  bool anchor = false;
  for (const auto& b : brackets) {
    if (b.bracket.imported_json.find(R"("base1":"62.11","cand":"64.28","base2":"62.14","delta_pct":"3.5")") ==
        std::string::npos) {
      continue;
    }
    anchor = true;
    CHECK(b.bracket.knob == "GATEFUSE");
    CHECK(b.bracket.base_value == "0");
    CHECK(b.bracket.cand_value == "1");
    CHECK(b.bracket.better == "higher");
    CHECK(b.verdict->word == "adopted");
  }
  CHECK(anchor);
  CHECK(db.rejected("dsv4", "SPEC_TOKENS", "3").value().size() == 1);
  const auto done = fixture::run_ledger({"render", "--db", path, "--out", "-"});
  CHECK(done.out.find("| SPEC_TOKENS 5->3 ") != std::string::npos);
  CHECK(done.out.find("-7.20 % (recorded)") != std::string::npos);
  CHECK(done.out.find("(original word: operator-veto): cooling limit; never propose again") != std::string::npos);
}

TEST_CASE("the words of the older ledger become verdicts that exist, each once") {
  std::set<std::string> seen;
  for (const VerdictWord& word : verdict_words()) {
    CHECK(seen.insert(word.original).second);
    const std::set<std::string> verdicts = {"adopted", "rejected", "neutral", "invalid", "unavailable", "deferred"};
    CHECK(verdicts.count(word.verdict) == 1);
  }
  CHECK_FALSE(verdict_of("splendid"));
  CHECK_FALSE(verdict_of(""));
}

TEST_CASE("acceptance says its convention") {
  struct Case {
    const char* text;
    const char* want;
  };
  const Case cases[] = {
      {"", ""},
      {"9/9", "9/9"},
      {"acc ~50%", "acc ~50% [legacy; raw 30.0%]"},
      {"acc 52..54%", "acc 52..54% [legacy; raw 31.2..32.4%]"},
      {"acc 51.1 vs 50.4..50.7%; sigma 0.50", "acc 51.1 vs 50.4..50.7%; sigma 0.50 [legacy; raw 30.2..30.7%]"},
      {"acc 18.9->18.7%", "acc 18.9->18.7% [raw]"},
      {"acc 41..63 -> 24.8..30.7% (27.0->14.5)",
       "acc 41..63 -> 24.8..30.7% (27.0->14.5) [conventions mixed, not converted]"},
      {"printed as raw 51.5% but 1.56 of 5 = raw 31%", "printed as raw 51.5% but 1.56 of 5 = raw 31%"},
      {"acc column", "acc column"},
  };
  for (const Case& c : cases) CHECK(acceptance_label(c.text) == c.want);
}

TEST_CASE("what is no older ledger is refused with its line") {
  const std::string good = "2026-08-08\tl\tX 0->1\tdecode\ttok/s\t1\t2\t1\t3\t-\tadopted\ts\tr\n";
  CHECK(parse_facts(kHeader + good, "f.tsv").value().size() == 2);
  CHECK(parse_facts(kHeader + good + good, "f.tsv").value().size() == 4);  // a row may stand there twice
  CHECK(parse_facts("", "f.tsv").error().where == "f.tsv:1");
  CHECK(parse_facts("a\tb\n", "f.tsv").error().code == Errc::kUsage);
  CHECK(refusal(good + "2026-08-08\tl\n").text() == "2 columns where 13 are due (f.tsv:3)");
  CHECK(refusal("2026-13-08\tl\tX\tm\tu\t1\t2\t1\t3\t-\tadopted\ts\tr\n").where == "f.tsv:2");
  CHECK(refusal("2026-02-30\tl\tX\tm\tu\t1\t2\t1\t3\t-\tadopted\ts\tr\n").what ==
        "'2026-02-30' is no date like 2026-11-29");
  CHECK(refusal("2026-08-08\tl\tX\tm\tu\t1\t2\t1\t3\t-\tsplendid\ts\tr\n").what.find("'splendid' is no verdict") == 0);
  CHECK(refusal("2026-08-08\t-\tX\tm\tu\t1\t2\t1\t3\t-\tadopted\ts\tr\n").what == "no lane");
  CHECK(refusal("2026-08-08\tl\t-\tm\tu\t1\t2\t1\t3\t-\tadopted\ts\tr\n").what == "no axis");
}

TEST_CASE("the axis gives a knob where it names one") {
  struct Case {
    const char *axis, *knob, *base, *cand;
  };
  const Case cases[] = {
      {"SPEC_TOKENS 5->3", "SPEC_TOKENS", "5", "3"},
      {"GATEFUSE 0->1 (fused router gate)", "GATEFUSE", "0", "1"},
      {"VLLM_USE_B12X_MHC=1", "VLLM_USE_B12X_MHC", "", "1"},
      {"decode context parallel", "decode context parallel", "", ""},
      {"NCCL_PROTO=LL128 / Simple (decode)", "NCCL_PROTO=LL128 / Simple (decode)", "", ""},
      {"X ->1", "X ->1", "", ""},
      {"=1", "=1", "", ""},
  };
  for (const Case& c : cases) {
    const auto rows =
        parse_facts(kHeader + "2026-08-08\tl\t" + c.axis + "\tm\tu\t1\t2\t1\t3\t-\tadopted\ts\tr\n", "f.tsv");
    REQUIRE(rows);
    const auto& columns = rows->front().columns;
    const auto text = [&](std::size_t i) { return std::get<std::string>(columns[i].second); };
    CHECK(text(5) == c.knob);
    CHECK(text(6) == c.base);
    CHECK(text(7) == c.cand);
  }
}
