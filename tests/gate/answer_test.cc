#include "gate/answer.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "gate/tally.h"

namespace bk::gate {
namespace {

Json fixture(const std::string& text) { return parse_json(text).value(); }

std::string read_case(const std::string& name) {
  return read_file(std::string(BK_SOURCE_DIR) + "/tests/fixtures/29-needle-gate/" + name).value();
}

Expected expected_of(const Json& fact) {
  Expected expected;
  for (const Json& value : fact["accept_all_of"].items()) expected.accept_all_of.push_back(value.as_string().value());
  return expected;
}

TEST_CASE("every row of the retrieval gate has its verdict (case 29)") {
  const Json facts = fixture(read_case("facts.json"));
  std::vector<AnswerVerdict> verdicts;
  const std::string answers = read_case("answers.jsonl");
  for (const std::string_view line : split_lines(answers)) {
    const Json row = fixture(std::string(line));
    INFO(line);
    Answer answer;
    answer.content = row["content"].as_string().value_or("");
    answer.reasoning = row["reasoning"].as_string().value_or("");
    answer.finish_reason = row["finish_reason"].as_string().value_or("");
    const Json& fact = facts.items()[static_cast<std::size_t>(row["fact"].as_int().value() - 1)];
    const Scored scored = score_answer(answer, expected_of(fact));
    CHECK(to_string(scored.verdict) == row["verdict"].as_string().value());
    CHECK(scored.reason.empty() == (scored.verdict == AnswerVerdict::kPass));
    verdicts.push_back(scored.verdict);
  }
  const Tally result = tally(verdicts, 18);
  CHECK(result.pass == 7);
  CHECK(result.miss == 9);
  CHECK(result.no_answer == 2);
  CHECK(result.asked == 18);
  CHECK(result.verdict() == Verdict::kInconclusive);
}

struct Row {
  const char* content;
  const char* verdict;
  const char* reason;
};

void check_rows(const Expected& expected, const std::vector<Row>& rows, const std::string& finish_reason = "stop") {
  for (const Row& row : rows) {
    INFO(row.content);
    Answer answer;
    answer.content = row.content;
    answer.finish_reason = finish_reason;
    const Scored scored = score_answer(answer, expected);
    CHECK(std::string(to_string(scored.verdict)) == row.verdict);
    CHECK(scored.reason == row.reason);
  }
}

TEST_CASE("a number is matched by value, whole, and only when it is the one answer") {
  check_rows({{"8127"}, {}},
             {
                 {"8127.", "pass", ""},
                 {"\"8127\"", "pass", ""},
                 {"constant=8127", "pass", ""},
                 {"_8127_", "pass", ""},
                 {"8'127", "pass", ""},
                 {"8\xE2\x80\x99"
                  "127",
                  "pass", ""},
                 {"8\xC2\xA0"
                  "127",
                  "pass", ""},
                 {"8\xE2\x80\xAF"
                  "127",
                  "pass", ""},
                 {"\xEF\xBC\x98\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97", "pass", ""},  // full width
                 {"\xEC\x83\x81\xEC\x88\x98\xEB\x8A\x94 8127\xEC\x9E\x85\xEB\x8B\x88\xEB\x8B\xA4.", "pass", ""},
                 {"The answer\xE2\x80\x94"
                  "8127\xE2\x80\x94is there.",
                  "pass", ""},
                 {"It is 8127, not 8126.", "pass", ""},
                 {"It is not 8126 but 8127.", "pass", ""},
                 {"The year 12 report says 8127 at 50% depth.", "pass", ""},
                 {"The value was not changed; it is 8127.", "pass", ""},
                 {"Not only 8127 units.", "pass", ""},
                 {"8127.5", "miss", "value_absent"},
                 {"1.8127", "miss", "value_absent"},
                 {"-8127", "miss", "value_absent"},
                 {"8127a", "miss", "value_absent"},
                 {"8127-3", "miss", "value_absent"},
                 {"81,27", "miss", "value_absent"},
                 {"8 127", "miss", "value_absent"},
                 {"1,008,127", "miss", "value_absent"},
                 {"8126", "miss", "wrong_value"},
                 {"Either 8127 or 9000.", "miss", "two_candidates"},
                 {"8127 is wrong.", "miss", "denied"},
                 {"8127 is not the constant.", "miss", "denied"},
                 {"It isn\xE2\x80\x99t 8127.", "miss", "denied"},
                 {"I do not think that it is 8127.", "miss", "denied"},
                 {"8127\xEC\x9D\xB4 \xEC\x95\x84\xEB\x8B\x99\xEB\x8B\x88\xEB\x8B\xA4.", "miss", "denied"},
                 {"anything other than 8127", "miss", "denied"},
                 {"I cannot find it.", "miss", "value_absent"},
                 {"...", "miss", "empty"},
                 {"<think>8127</think>", "miss", "empty"},
                 {"I think 8127</think> It is 8126", "miss", "wrong_value"},
                 {"<think>8126?</think>8127", "pass", ""},
                 {"<thinking>no</thinking>8127", "pass", ""},
             });
}

TEST_CASE("a reply cut by length is no answer unless it states a value") {
  check_rows({{"8127"}, {}},
             {
                 {"", "no_answer", "cut_by_length"},
                 {"<think>It may be 8127", "no_answer", "cut_by_length"},
                 {"The constant is 81", "no_answer", "cut_by_length"},
                 {"The constant is 8127", "pass", ""},
                 {"The constant is 8126", "miss", "wrong_value"},
                 {"It is not 8127, it", "miss", "denied"},
             },
             "length");
  check_rows({{"K-42", "north"}, {"south"}},
             {
                 {"Valve K-42 on the", "no_answer", "cut_by_length"},
                 {"Valve K-42 on the south", "miss", "wrong_value"},
                 {"Valve K-43 on the", "miss", "wrong_value"},
             },
             "length");
}

TEST_CASE("tags, places and dates match as whole words in any order") {
  check_rows({{"K-42", "north"}, {"south", "east", "west"}}, {
                                                                 {"north: k\xE2\x80\x93"
                                                                  "42",
                                                                  "pass", ""},
                                                                 {"K\xE2\x88\x92"
                                                                  "42 on the north's side",
                                                                  "pass", ""},
                                                                 {"K-42\xEB\xB0\xB8\xEB\xB8\x8C north", "pass", ""},
                                                                 {"K-42, north, not south", "pass", ""},
                                                                 {"K-42 north-east", "miss", "value_absent"},
                                                                 {"K-42-1 north", "miss", "value_absent"},
                                                                 {"AK-42 north", "miss", "value_absent"},
                                                                 {"K-42 north or south", "miss", "two_candidates"},
                                                                 {"K-42 or B-17, north", "miss", "two_candidates"},
                                                             });
  check_rows({{"Dunmorrow", "14", "March"}, {}}, {
                                                     {"DUNMORROW on March 14th", "pass", ""},
                                                     {"Dunmorrow, the 14th of march.", "pass", ""},
                                                     {"Dunmorrow on 14 May", "miss", "value_absent"},
                                                     {"Dunmorrow on 15 March", "miss", "wrong_value"},
                                                     {"Dunmorrows on 14 March", "miss", "value_absent"},
                                                 });
}

TEST_CASE("what is not a reply is no answer, and a gate counts every question asked") {
  Answer failed;
  failed.content = "8127";
  failed.request_failed = true;
  CHECK(score_answer(failed, {{"8127"}, {}}).reason == "request_failed");
  Answer thought;
  thought.reasoning = "It says 8127";
  thought.finish_reason = "stop";
  CHECK(score_answer(thought, {{"8127"}, {}}).verdict == AnswerVerdict::kNoAnswer);

  constexpr auto kPass = AnswerVerdict::kPass;
  constexpr auto kMiss = AnswerVerdict::kMiss;
  constexpr auto kNone = AnswerVerdict::kNoAnswer;
  struct Count {
    std::vector<AnswerVerdict> verdicts;
    int asked;
    Verdict verdict;
    const char* score;
  };
  const std::vector<Count> rows = {
      {{kPass, kPass, kPass}, 3, Verdict::kPass, "3/3"},
      {{kPass, kMiss, kPass}, 3, Verdict::kFail, "2/3"},
      {{kPass, kNone, kPass}, 3, Verdict::kInconclusive, "2/3"},
      {{kMiss, kNone, kMiss}, 3, Verdict::kInconclusive, "0/3"},
      {{kPass, kPass}, 3, Verdict::kInconclusive, "2/3"},
      {{}, 0, Verdict::kInconclusive, "0/0"},
  };
  for (const Count& row : rows) {
    const Tally result = tally(row.verdicts, row.asked);
    CHECK(result.verdict() == row.verdict);
    CHECK(result.score() == row.score);
    CHECK(result.pass + result.miss + result.no_answer == result.asked);
  }
}

TEST_CASE("any bytes can stand around a value") {
  std::uint32_t state = 7;
  for (int round = 0; round < 2000; ++round) {
    Answer answer;
    answer.finish_reason = "stop";
    for (int i = 0; i < 24; ++i) {
      state = state * 1664525u + 1013904223u;
      answer.content += static_cast<char>(state >> 24);
    }
    const std::string before = answer.content;
    CHECK(score_answer(answer, {{"8127"}, {}}).verdict != AnswerVerdict::kPass);
    answer.content = before + "\nvalue: 8127\n";
    const auto verdict = score_answer(answer, {{"8127"}, {}}).verdict;
    CHECK(verdict == AnswerVerdict::kPass);
  }
}

}  // namespace
}  // namespace bk::gate
