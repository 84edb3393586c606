#include "trace/repeats.h"

#include <catch2/catch.hpp>

#include "trace/recording.h"
#include "trace/token_index.h"

using namespace bk;
using namespace bk::trace;

namespace {

/// A kernel as Kineto writes it.
std::string kernel(const std::string& ts, const std::string& dur, const std::string& correlation) {
  return R"J({
    "ph": "X", "cat": "kernel", "name": "void f<4>(int, \"é\")", "pid": 0, "tid": 7,
    "ts": )J" +
         ts + R"J(, "dur": )J" + dur + R"J( ,
    "args": {
      "queued": 0, "device": 1, "stream": 13, "correlation": )J" +
         correlation + R"J(, "grid": [4, 1, 1], "est. achieved occupancy %": 0
    }
  })J";
}

/// Walks one event and remembers it, `times` times.
void learn(Repeats& repeats, std::string text, int times) {
  const std::size_t size = text.size();
  text.append(TokenIndex::kPadding, ' ');
  TokenIndex index;
  REQUIRE(index.index(text.data(), size) == TokenIndex::Fault::kNone);
  const Cursor begin{text.data(), index.begin(), index.begin() + index.count(), true, true};
  Cursor end = begin;
  RawEvent event;
  REQUIRE(Walker(end).event(event) == Walk::kDone);
  for (int i = 0; i < times; ++i) REQUIRE(repeats.learn(begin, end, event, Kind::kKernel) == 1);
}

constexpr int kOften = 10;  // more than the events that the next one is guessed from

struct Seen {
  std::string events;
  int count = 0;
  bool error = false;
};

Seen read(const std::string& text) {
  Reader reader(memory_source(text), {false, true});
  Seen seen;
  for (Event event;;) {
    const auto more = reader.next(event);
    seen.error = !more;
    if (!more || !*more) return seen;
    ++seen.count;
    seen.events.append(event.name).append("|").append(event.category).append("|").append(event.device);
    seen.events.append("|").append(event.stream).append("|").append(event.json);
    seen.events.append("|").append(std::to_string(event.ts_ns)).append("+").append(std::to_string(event.dur_ns));
    seen.events.append("\n");
  }
}

std::string times(int n, const std::string& event) {
  std::string text;
  for (int i = 0; i < n; ++i) text += event + ",\n ";
  return text;
}

}  // namespace

TEST_CASE("an event is known again when it differs in times and ids only") {
  Repeats repeats;
  learn(repeats, kernel("5121154912675.977", "0.960", "3676"), kOften);
  const std::string text = kernel("-1", "12.5e1", "0");
  const Repeats::Form* form = repeats.find(std::string(text).append(TokenIndex::kPadding, ','));
  REQUIRE(form != nullptr);
  CHECK(form->kind == Kind::kKernel);
  CHECK(repeats.size() == text.size());
  CHECK(form->event.name == R"(void f<4>(int, \"é\"))");
  CHECK(form->event.ph == "X");
  CHECK(form->event.tid == "7");
  CHECK(form->event.device == "1");
  CHECK(form->event.stream == "13");
  CHECK(repeats.event_of(*form).ts.size() == 2);
  CHECK(repeats.event_of(*form).dur.size() == 6);
}

TEST_CASE("what is cut, or has no numbers where they were, is not known") {
  Repeats repeats;
  learn(repeats, kernel("1.5", "2", "3"), kOften);
  for (const char* bad : {"", "01", "1.", ".5", "x", "\"1\"", "1 ", "1 2", "1e", "--1", "NaN", "null", "1,1"}) {
    CAPTURE(bad);
    for (const std::string& text : {kernel(bad, "2", "3"), kernel("1.5", bad, "3"), kernel("1.5", "2", bad)}) {
      CHECK(repeats.find(std::string(text).append(TokenIndex::kPadding, ',')) == nullptr);
    }
  }
  const std::string whole = kernel("1.5", "2", "3");
  const std::string padded = std::string(whole).append(TokenIndex::kPadding, '0');
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(repeats.find(std::string_view(padded).substr(0, size)) == nullptr);
  }
  CHECK(repeats.find(std::string_view(padded).substr(0, whole.size())) != nullptr);
}

TEST_CASE("what was read before changes nothing in what is read") {
  const std::string event = kernel("5121154912675.977", "0.960", "3676");
  const std::string known = times(kOften, event);
  const Seen before = read("[" + known + "{}]");
  REQUIRE(before.count == kOften);
  for (std::size_t at = 0; at < event.size(); ++at) {
    for (const char c : std::string("\"\\0x .-,:}]{\n\x01\xff")) {
      CAPTURE(at, c);
      std::string changed = event;
      changed[at] = c;
      const std::string tail = changed + ",\n" + event + "]";
      const Seen alone = read("[" + tail), after = read("[" + known + tail);
      CHECK(after.error == alone.error);
      if (!alone.error) CHECK(after.events == before.events + alone.events);
    }
  }
}

TEST_CASE("a trace that does not repeat itself is read all the same") {
  constexpr int kEvents = 30'000;
  std::string text;
  for (int i = 0; i < kEvents; ++i) {
    text += (i == 0 ? "[" : ",") + std::string(R"({"ph":"X","cat":"kernel","name":"k)") + std::to_string(i) +
            R"(","ts":1,"dur":2})";
  }
  const std::string same = R"(,{"ph":"X","cat":"kernel","name":"same","ts":1,"dur":2})";
  for (int i = 0; i < kEvents; ++i) text += same;
  const auto recording = record(memory_source(text + "]"), "by hand");
  REQUIRE(recording);
  CHECK(recording->names().size() == kEvents + 1);
  CHECK(recording->names().back().count == kEvents);
  CHECK(recording->sum_of(Kind::kKernel) == 2 * kEvents * std::int64_t{2000});
}
