#include <catch2/catch.hpp>
#include <map>
#include <stdexcept>

#include "prep_fused/guard.h"

namespace bk::kernels {
namespace {

/// Two sides that write into whatever tensor the engine owns at that moment.
class Work : public PrepWork {
 public:
  std::string refuse() override {
    calls += "r";
    if (throws == "refuse") throw std::runtime_error("broken guard");
    return refusal;
  }
  bool fused() override {
    calls += "f";
    if (throws == "fused") throw std::runtime_error("broken launch");
    *live = 7 + off_by;
    return launches;
  }
  void keep() override {
    calls += "k";
    if (throws == "keep") throw 3;
    kept = *live;
  }
  void stock() override {
    calls += "s";
    if (throws == "stock") throw std::logic_error("the engine's own");
    *live = 7;
  }
  std::int64_t drift() override {
    calls += "d";
    if (throws == "drift") throw std::runtime_error("broken comparison");
    return kept == *live ? 0 : 1;
  }

  std::string calls, refusal, throws;
  bool launches = true;
  int off_by = 0;
  int kept = 0;
  int own = 0;
  int* live = &own;
};

TEST_CASE("the knob has three meanings, and a misspelt one disarms and says so") {
  const std::map<std::string, PrepMode> values = {{"", PrepMode::kOff},    {"0", PrepMode::kOff},
                                                  {"off", PrepMode::kOff}, {"shadow", PrepMode::kShadow},
                                                  {"on", PrepMode::kOn},   {"1", PrepMode::kOn}};
  for (const auto& [text, mode] : values) {
    CHECK(parse_prep_mode(text).mode == mode);
    CHECK(parse_prep_mode(text).refused.empty());
  }
  for (const char* text : {"On", "shadwo", "2", " 1", "true"}) {
    INFO(text);
    PrepGuard guard(text);
    Work work;
    CHECK(guard.step(work).served == PrepServed::kStock);
    CHECK(work.calls == "s");
    CHECK_FALSE(guard.armed());
    CHECK(guard.reason().find(text) != std::string::npos);
  }
}

TEST_CASE("off runs the stock path alone") {
  PrepGuard guard("0");
  Work work;
  guard.warm_up(work);
  guard.step(work);
  CHECK(work.calls == "s");
  CHECK(guard.reason().empty());
}

TEST_CASE("shadow runs the stock chain after the fused step, compares, and serves stock") {
  PrepGuard guard("shadow");
  Work work;
  for (int i = 0; i < 3; ++i) {
    work.calls.clear();
    const PrepReport report = guard.step(work);
    CHECK(work.calls == "rfksd");
    CHECK(report.served == PrepServed::kStock);
    CHECK(report.compared);
  }
  work.off_by = 1;
  guard.step(work);
  CHECK_FALSE(guard.armed());
  CHECK(guard.reason() == "drift: 1 numbers differ at step 3");
  work.calls.clear();
  guard.step(work);
  CHECK(work.calls == "s");
}

TEST_CASE("on serves the fused step and checks itself every 64 steps; drift disarms") {
  PrepGuard guard("on");
  Work work;
  std::vector<int> compared;
  for (int i = 0; i < 130; ++i) {
    const PrepReport report = guard.step(work);
    if (report.compared) compared.push_back(i);
    CHECK(report.served == (report.compared ? PrepServed::kStock : PrepServed::kFused));
  }
  CHECK(compared == std::vector<int>{0, 64, 128});
  work.off_by = 1;
  int served = 0;
  while (guard.armed()) served += guard.step(work).served == PrepServed::kFused ? 1 : 0;
  CHECK(served == 62);  // steps 130 to 191; step 192 compares
  CHECK(*work.live == 7);
}

TEST_CASE("a refused step falls back and stays armed; what throws or fails disarms and is still prepared") {
  PrepGuard refused("on");
  Work work;
  work.refusal = "a query of 6 tokens is no power of two up to 64";
  CHECK(refused.step(work).served == PrepServed::kStock);
  CHECK(work.calls == "rs");
  CHECK(refused.armed());
  CHECK(refused.fallbacks() == 1);

  const std::map<std::string, std::string> paths = {
      {"refuse", "rs"}, {"fused", "rfs"}, {"keep", "rfks"}, {"drift", "rfksd"}};
  for (const auto& [where, calls] : paths) {
    INFO(where);
    PrepGuard guard("on");
    Work broken;
    broken.throws = where;
    CHECK(guard.step(broken).served == PrepServed::kStock);
    CHECK(broken.calls == calls);
    CHECK_FALSE(guard.armed());
    CHECK_FALSE(guard.reason().empty());
    CHECK(*broken.live == 7);
  }
  PrepGuard failing("on");
  Work launch;
  launch.launches = false;
  failing.step(launch);
  CHECK(launch.calls == "rfs");
  CHECK_FALSE(failing.armed());
}

TEST_CASE("an exception of the engine's own chain passes through and is no disarm") {
  PrepGuard guard("on");
  Work work;
  work.throws = "stock";
  CHECK_THROWS_AS(guard.step(work), std::logic_error);
  CHECK(guard.armed());
}

TEST_CASE("a failed warm-up disarms for good") {
  for (const std::string where : {"refuse", "fused", "refusal", "launch", "drift"}) {
    INFO(where);
    PrepGuard guard("on");
    Work work;
    work.throws = where;
    if (where == "refusal") work.refusal = "no";
    if (where == "launch") work.launches = false;
    guard.warm_up(work);
    CHECK_FALSE(guard.armed());
    Work fine;
    CHECK(guard.step(fine).served == PrepServed::kStock);
    CHECK(fine.calls == "s");
  }
}

TEST_CASE("a disarm survives sleep and wake, and asleep is stock") {
  PrepGuard guard("on");
  Work work;
  guard.sleep();
  guard.step(work);
  CHECK(work.calls == "s");
  guard.wake();
  work.calls.clear();
  guard.step(work);
  CHECK(work.calls == "rfksd");
  work.throws = "fused";
  guard.step(work);
  const std::string reason = guard.reason();
  guard.sleep();
  guard.wake();
  Work fine;
  guard.warm_up(fine);
  guard.step(fine);
  CHECK(fine.calls == "s");
  CHECK(guard.reason() == reason);
}

TEST_CASE("the owner of a rotating pool is read at every launch, not kept") {
  PrepGuard guard("on");
  Work work;
  int pool[2] = {0, 0};
  for (int i = 0; i < 10; ++i) {
    pool[i % 2] = 0;
    work.live = &pool[i % 2];
    guard.step(work);
    CHECK(pool[i % 2] == 7);
  }
}

TEST_CASE("pinned buffers are given out in turn, and never while their copy is under way") {
  std::vector<bool> done(3, false);
  StagingTurn turn(3, [&](int buffer) { return done[buffer]; });
  CHECK(turn.acquire() == 0);
  CHECK(turn.acquire() == 1);
  CHECK(turn.acquire() == 2);
  CHECK_FALSE(turn.acquire().has_value());
  done[1] = true;
  CHECK_FALSE(turn.acquire().has_value());  // buffer 0 is next, whichever else is free
  done[0] = true;
  CHECK(turn.acquire() == 0);
  CHECK(turn.acquire() == 1);
}

TEST_CASE("metadata is cached only for a drafter that is known to ignore it") {
  CHECK(metadata_cache_allowed("DSparkProposer", {"DSparkProposer"}));
  CHECK_FALSE(metadata_cache_allowed("EagleProposer", {"DSparkProposer"}));
  CHECK_FALSE(metadata_cache_allowed("", {}));
}

}  // namespace
}  // namespace bk::kernels
