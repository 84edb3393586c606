#include <catch2/catch.hpp>

#include "answer.h"
#include "http_request.h"

namespace bk::sim {
namespace {

TEST_CASE("requests are read the same for every split of their bytes") {
  const std::string bytes =
      "POST /a?b=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
      "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    HttpRequestReader reader;
    std::vector<HttpRequest> requests;
    for (const std::string& part : {bytes.substr(0, split), bytes.substr(split)}) {
      reader.feed(part);
      HttpRequest request;
      while (reader.take(request) == HttpRequestReader::State::kComplete) requests.push_back(std::move(request));
    }
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].path == "/a");
    CHECK(requests[0].query == "b=1");
    CHECK(requests[0].body == "hello");
    CHECK(requests[0].keep_alive);
    CHECK(requests[1].body == "abcde");
    CHECK_FALSE(requests[1].keep_alive);
  }
}

TEST_CASE("what is not HTTP is refused") {
  for (const char* bytes : {"nonsense\r\n\r\n", "GET / FTP/1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"}) {
    INFO(bytes);
    HttpRequestReader reader;
    reader.feed(bytes);
    HttpRequest request;
    CHECK(reader.take(request) == HttpRequestReader::State::kBad);
  }
}

TEST_CASE("an answer is the sentence of the document that shares the question's rare words") {
  const std::string document =
      "river copper river meadow\nThe damping coefficient of the quarry resonator is 5521.\nriver copper\n"
      "The soil inspection certificate was signed by Castellan on 14 May.\nmeadow river\n"
      "The coolant bypass lever is labelled K-42 and hangs beside the north staircase.\nriver";
  struct Case {
    std::string question;
    std::vector<std::string> keys;
  };
  for (const Case& c : {Case{"What is the damping coefficient of the quarry resonator?", {"5521"}},
                        Case{"Who signed the soil inspection certificate, and on which day of which month?",
                             {"Castellan", "14", "May"}},
                        Case{"How is the coolant bypass lever labelled, and beside which staircase does it hang?",
                             {"K-42", "north"}}}) {
    INFO(c.question);
    const auto found = find_answer(document + "\n" + c.question, c.question);
    REQUIRE(found.size() == 1);
    for (const std::string& key : c.keys) CHECK(found[0].find(key) != std::string::npos);
  }
  const std::string all =
      "What is the damping coefficient of the quarry resonator? Who signed the soil inspection certificate? "
      "How is the coolant bypass lever labelled, and beside which staircase does it hang?";
  CHECK(find_answer(document + "\n" + all, all).size() == 3);
  CHECK(find_answer(document, "What colour is the sky above Lisbon?").empty());
  // Nothing is known that the document does not say.
  CHECK(find_answer("river copper\nmeadow", "What is the damping coefficient of the quarry resonator?").empty());
}

TEST_CASE("only a message that asks holds a question") {
  CHECK(question_in("Some text. What is it? Answer briefly.") == "What is it?");
  CHECK(question_in("filler?\nfiller\n\nQuestion: Tell all. What is a? In short. Who is b?") ==
        "What is a? In short. Who is b?");
  CHECK(question_in("text\ntext\nList the three facts.") == "List the three facts.");
  CHECK(question_in("Explain tides").empty());
}

}  // namespace
}  // namespace bk::sim
