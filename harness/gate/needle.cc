#include "gate/needle.h"

#include <string_view>

namespace bk::gate {
namespace {

using List = std::array<const char*, 12>;

constexpr List kSurnames = {"Aldercott", "Brennick",  "Castellan", "Dunmorrow", "Eskeland",  "Farquhart",
                            "Gildersen", "Hollander", "Isenmark",  "Jorgander", "Kestleway", "Lindqvist"};
constexpr List kMonths = {"January", "February", "March",     "April",   "May",      "June",
                          "July",    "August",   "September", "October", "November", "December"};
constexpr List kPlaces = {"harbour", "quarry", "glacier", "monastery",  "lagoon",  "foundry",
                          "orchard", "canyon", "prairie", "lighthouse", "viaduct", "reservoir"};
constexpr std::array<const char*, 4> kSides = {"north", "south", "east", "west"};
constexpr std::string_view kTagLetters = "BCDFGHJKMNPRTVWX";

template <std::size_t N>
std::string pick(const std::array<const char*, N>& list, const Draw& draw) {
  return list[draw(N)];
}

std::string number(const Draw& draw, std::uint64_t low, std::uint64_t high) {
  return std::to_string(low + draw(high - low + 1));
}

Fact constant_fact(const Draw& draw) {
  const std::string place = pick(kPlaces, draw);
  const std::string value = number(draw, 2101, 9899);
  return {"The damping coefficient of the " + place + " resonator is " + value + ".",
          "What is the damping coefficient of the " + place + " resonator? Answer with the number.",
          {{value}, {}}};
}

Fact signature_fact(const Draw& draw) {
  const std::string surname = pick(kSurnames, draw);
  const std::string day = number(draw, 10, 28);
  const std::string month = pick(kMonths, draw);
  return {"The soil inspection certificate was signed by " + surname + " on " + day + " " + month + ".",
          "Who signed the soil inspection certificate, and on which day of which month?",
          {{surname, day, month}, {}}};
}

Fact tag_fact(const Draw& draw) {
  const std::string tag = std::string(1, kTagLetters[draw(kTagLetters.size())]) + "-" + number(draw, 11, 98);
  const std::string side = pick(kSides, draw);
  Expected expected{{tag, side}, {}};
  for (const char* other : kSides) {
    if (other != side) expected.rivals.emplace_back(other);
  }
  return {"The coolant bypass lever is labelled " + tag + " and hangs beside the " + side + " staircase.",
          "How is the coolant bypass lever labelled, and beside which staircase does it hang?", expected};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::array<Fact, 3> draw_facts(const Draw& draw) {
  Fact constant = constant_fact(draw);
  Fact signature = signature_fact(draw);
  Fact tag = tag_fact(draw);
  return {std::move(constant), std::move(signature), std::move(tag)};
}

std::string plant(const std::array<std::string, 4>& chunks, const std::array<Fact, 3>& facts) {
  std::string text = chunks[0];
  for (std::size_t i = 0; i < facts.size(); ++i) text += "\n" + facts[i].sentence + "\n" + chunks[i + 1];
  return text;
}

std::string ask(const std::string& document, const std::string& question) {
  return "Below is a document; most of it is filler. Read it and answer the question at its end in one sentence.\n\n" +
         document + "\n\nQuestion: " + question;
}

Fact all_of(const std::array<Fact, 3>& facts) {
  Fact all;
  all.question = "Answer all three, one line each.";
  for (const Fact& fact : facts) {
    all.sentence += (all.sentence.empty() ? "" : " ") + fact.sentence;
    all.question += " " + fact.question;
    append(all.expected.accept_all_of, fact.expected.accept_all_of);
    append(all.expected.rivals, fact.expected.rivals);
  }
  return all;
}

}  // namespace bk::gate
