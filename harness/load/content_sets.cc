#include "load/content.h"

namespace bk::load {
namespace {

constexpr bool kShort = false;
constexpr bool kLong = true;

ContentSet prose() {
  return {"prose",
          1,
          {{kShort, "In two sentences, say what a lighthouse keeper does on a quiet evening."},
           {kShort, "Describe the smell of rain on a dusty road in one or two sentences."},
           {kShort, "Give the first two sentences of a story that begins in a railway waiting room."},
           {kLong, "Write a long story about a clockmaker who repairs the town clock during a winter storm."},
           {kLong, "Write a detailed essay on how coastal villages changed when the fishing fleets grew smaller."},
           {kLong, "Tell the whole history of an old wooden bridge, from the day it was built to the day it burned."}}};
}

ContentSet code() {
  return {"code",
          1,
          {{kShort, "Write a Python function that returns the sum of the digits of an integer. Code only."},
           {kShort, "Write one SQL statement that counts orders for each customer of the current year. Code only."},
           {kShort, "Write a shell command that lists the ten largest files below a folder. Code only."},
           {kLong,
            "Write a complete C++ class for a bounded queue shared by several threads, with comments and a small test "
            "program."},
           {kLong,
            "Write a Python program that reads a CSV file of measurements, groups the rows by sensor, prints a table "
            "of statistics, and has unit tests."},
           {kLong, "Write a TypeScript module with a least-recently-used cache, its types, and ten usage examples."}}};
}

ContentSet json() {
  return {"json",
          1,
          {{kShort, "Answer with a JSON object only: name, unit and value of one temperature sensor."},
           {kShort, "Answer with a JSON array only: three city names, each with its country code."},
           {kShort, "Answer with a JSON object only: a user with id, email and two roles."},
           {kLong,
            "Answer with JSON only: an array of 40 inventory items, each with id, name, quantity, price, currency, "
            "warehouse and last_checked."},
           {kLong,
            "Answer with JSON only: an OpenAPI description of a small service with books, authors and loans, with all "
            "its schemas."},
           {kLong,
            "Answer with JSON only: 30 log records of a web server, each with time, level, method, path, status, "
            "bytes and duration_ms."}}};
}

ContentSet math() {
  return {"math",
          1,
          {{kShort, "What is 17 times 23? Show the one step that you used."},
           {kShort, "Differentiate x^3 - 4x with respect to x. Give the result only."},
           {kShort, "A train covers 150 km in 90 minutes. What is its mean speed in km/h?"},
           {kLong,
            "Prove by induction that the sum of the first n cubes is the square of the n-th triangular number, and "
            "explain every step in full."},
           {kLong,
            "For each whole number from 1 to 60, say whether it is prime, and if not, give its factorisation and how "
            "you found it."},
           {kLong,
            "Derive the solution of the quadratic equation by completing the square, then solve eight different "
            "examples with all intermediate steps."}}};
}

ContentSet chat() {
  return {"chat",
          1,
          {{kShort, "My plant has yellow leaves. What should I look at first?"},
           {kShort, "Can you suggest a name for a small grey cat?"},
           {kShort, "I slept badly and have an exam at nine. Any quick advice?"},
           {kLong,
            "I would like to learn to bake bread but have failed three times. Please talk me through everything that "
            "I should do differently, from flour to oven."},
           {kLong,
            "We are planning a ten-day trip by train with two children and a small budget. Please propose a whole "
            "plan, day by day, and explain your choices."},
           {kLong,
            "I am about to lead a team for the first time and feel unsure. Please give me thorough, friendly advice "
            "for the first three months."}}};
}

ContentSet korean() {
  return {"korean",
          1,
          {{kShort, "비 오는 날에 어울리는 저녁 메뉴를 한 가지 추천하고 이유를 한 문장으로 말해 주세요."},
           {kShort, "도서관과 서점의 차이를 두 문장으로 설명해 주세요."},
           {kShort, "아침 운동을 시작하려는 친구에게 짧게 한마디 해 주세요."},
           {kLong, "작은 섬마을의 등대를 지키는 할아버지와 손녀의 하루를 긴 이야기로 써 주세요."},
           {kLong, "우리나라 전통 시장이 지난 오십 년 동안 어떻게 바뀌었는지 배경과 사례를 들어 자세히 설명해 주세요."},
           {kLong, "처음 자취를 시작하는 사람을 위해 집 구하기부터 살림 관리까지 빠짐없이 안내하는 글을 써 주세요."}}};
}

ContentSet structured() {
  return {"structured",
          1,
          {{kShort, "List the seven days of the week, one a line, each with its number. Nothing else."},
           {kShort, "Make a Markdown table of three fruits with colour and season. Nothing else."},
           {kShort, "Count from 1 to 20, one number a line. Nothing else."},
           {kLong,
            "Make a numbered list from 1 to 100. Each line has the form: item NUMBER: square SQUARE, cube CUBE. "
            "Nothing else."},
           {kLong,
            "Make a Markdown table of the months of three years, with columns year, month, days, quarter and half. "
            "Nothing else."},
           {kLong,
            "Print a timetable from 06:00 to 22:00 in steps of ten minutes, one line each, with the columns time, "
            "platform and line. Nothing else."}}};
}

}  // namespace

const std::vector<ContentSet>& content_sets() {
  static const std::vector<ContentSet> sets = {prose(), code(), json(), math(), chat(), korean(), structured()};
  return sets;
}

}  // namespace bk::load
