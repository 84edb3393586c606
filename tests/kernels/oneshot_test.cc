#include <barrier>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <set>

#include "common/number_formats.h"
#include "oneshot_ar/gate.h"
#include "oneshot_ar/host_transport.h"

namespace bk::kernels {
namespace {

/// What the kernel does with a pair of bf16, on the host.
struct HostMath {
  struct Sum {
    float low = 0;
    float high = 0;
  };
  Sum start() const { return {}; }
  void add(Sum& sum, std::uint32_t pair) const {
    sum.low += from_bf16(static_cast<std::uint16_t>(pair));
    sum.high += from_bf16(static_cast<std::uint16_t>(pair >> 16));
  }
  std::uint32_t finish(const Sum& sum) const {
    return static_cast<std::uint32_t>(to_bf16(sum.high)) << 16 | to_bf16(sum.low);
  }
  std::uint32_t broken() const { return 0x7fff7fffu; }
};

constexpr std::uint32_t kForever = 0x7fffffffu;

std::uint32_t input_of(int rank, int call, std::uint32_t unit) {
  const auto value = [&](int i) {
    return to_bf16(static_cast<float>((rank * 31 + call * 7 + static_cast<int>(unit) * 3 + i) % 97) / 8);
  };
  return static_cast<std::uint32_t>(value(1)) << 16 | value(0);
}

std::uint32_t sum_of(int world, int call, std::uint32_t unit) {
  HostMath::Sum sum;
  for (int rank = 0; rank < world; ++rank) HostMath().add(sum, input_of(rank, call, unit));
  return HostMath().finish(sum);
}

struct Group {
  Group(int ranks, std::uint32_t first_call) : world(ranks), call(first_call) {
    for (int rank = 0; rank < world; ++rank) owned.push_back(std::make_unique<HostRegion>(world));
    std::vector<HostRegion*> all;
    for (const auto& region : owned) all.push_back(region.get());
    for (int rank = 0; rank < world; ++rank) transports.push_back(std::make_unique<HostTransport>(all, rank));
  }
  int world;
  std::uint32_t call;  // the number before the first one
  std::vector<std::unique_ptr<HostRegion>> owned;
  std::vector<std::unique_ptr<HostTransport>> transports;
};

/// Every rank makes the calls with `lanes` threads that wait for one another after each call, as a launch's blocks do.
/// Returns the units that are not the sum.
int run_calls(Group& group, int lanes, const std::vector<std::uint32_t>& sizes) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<std::barrier<>>> ends;
  ends.reserve(group.world);
  std::vector<std::vector<std::uint32_t>> in(group.world, std::vector<std::uint32_t>(kOneshotUnits));
  for (int rank = 0; rank < group.world; ++rank) ends.push_back(std::make_unique<std::barrier<>>(lanes));
  const auto lane_of = [&](int rank, int lane) {
    std::uint32_t call = group.call;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      call = next_call(call);
      std::vector<std::uint32_t>& data = in[rank];
      for (std::uint32_t unit = lane; unit < sizes[i]; unit += lanes)
        data[unit] = input_of(rank, static_cast<int>(i), unit);
      if ((rank + static_cast<int>(i)) % 3 == 0) std::this_thread::yield();
      const OneshotShape shape{rank, group.world, sizes[i], kForever, kForever};
      // In place, as the kernel allows.
      all_reduce_lane(*group.transports[rank], HostMath(), shape, call, data.data(), data.data(),
                      static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(lanes));
      for (std::uint32_t unit = lane; unit < sizes[i]; unit += lanes)
        wrong += data[unit] != sum_of(group.world, static_cast<int>(i), unit) ? 1 : 0;
      ends[rank]->arrive_and_wait();
    }
  };
  for (int rank = 0; rank < group.world; ++rank)
    for (int lane = 0; lane < lanes; ++lane) threads.emplace_back(lane_of, rank, lane);
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < sizes.size(); ++i) group.call = next_call(group.call);
  return wrong;
}

TEST_CASE("threads as ranks get the sum of every call, whatever sizes follow each other") {
  std::vector<std::uint32_t> sizes;
  sizes.reserve(150);
  for (int i = 0; i < 150; ++i) sizes.push_back(static_cast<std::uint32_t>(1 + i * 37 % 150));
  for (const auto& [world, lanes] : {std::pair{2, 1}, {2, 3}, {4, 1}}) {
    INFO("world " << world << " lanes " << lanes);
    Group group(world, 0);
    CHECK(run_calls(group, lanes, sizes) == 0);
  }
}

TEST_CASE("a replayed sequence of calls is served again and again, over the wrap of the numbers too") {
  Group group(3, 0xffffffffu - 6);
  const std::vector<std::uint32_t> graph = {64, 8, 64};
  for (int replay = 0; replay < 15; ++replay) CHECK(run_calls(group, 1, graph) == 0);
  CHECK(next_call(0xffffffffu) == 1);
}

TEST_CASE("the largest message fits its slot, and slots do not overlap") {
  Group group(2, 0);
  CHECK(run_calls(group, 1, {kOneshotUnits, kOneshotUnits, 1}) == 0);
  std::set<std::uint64_t> rows;
  for (std::uint32_t call = 1; call <= kOneshotSlots; ++call)
    for (int source = 0; source < 8; ++source) rows.insert(word_index(call, source, 8, 0));
  CHECK(rows.size() == kOneshotSlots * 8);
  for (const std::uint64_t row : rows) CHECK((row - 1) % kOneshotUnits == 0);
  CHECK(*rows.begin() == 1);
}

/// Every interleaving of ranks that send to each peer and receive from each, one word at a time. Returns how many
/// states a receiver finds a later call's word in, with a ring of `slots`.
int lost_words(int world, int calls, int slots) {
  const int per_call = 2 * (world - 1);
  std::set<std::vector<int>> seen;
  int lost = 0;
  const std::function<void(std::vector<int>)> visit = [&](std::vector<int> done) {
    if (!seen.insert(done).second) return;
    for (int rank = 0; rank < world; ++rank) {
      const int step = done[rank] % per_call;
      const int call = done[rank] / per_call + 1;
      if (call > calls) continue;
      if (step >= world - 1) {
        const int peer = (rank + step - (world - 1) + 1) % world;
        // The newest call that this peer has written into the slot.
        const int sends_at = (rank - peer + world) % world - 1;
        int newest = 0;
        for (int other = 1; other <= calls; ++other)
          if (other % slots == call % slots && done[peer] > (other - 1) * per_call + sends_at) newest = other;
        if (newest > call) ++lost;
        if (newest != call) continue;
      }
      std::vector<int> next = done;
      ++next[rank];
      visit(next);
    }
  };
  visit(std::vector<int>(world, 0));
  return lost;
}

TEST_CASE("no interleaving loses a word with the ring as it is; one slot would lose some") {
  CHECK(lost_words(2, 10, kOneshotSlots) == 0);
  CHECK(lost_words(3, 6, kOneshotSlots) == 0);
  CHECK(lost_words(3, 6, 2) == 0);
  CHECK(lost_words(2, 4, 1) > 0);
}

TEST_CASE("a rank that stays away is reported with the call, and takes every rank out") {
  Group group(3, 0);
  CHECK(run_calls(group, 1, {4, 4}) == 0);
  // Call 3: rank 2 does not come. Rank 0 gives up once rank 1's part is there.
  std::vector<std::uint32_t> out[2] = {std::vector<std::uint32_t>(4), std::vector<std::uint32_t>(4)};
  bool whole[2] = {true, true};
  const std::vector<std::uint32_t> in(4, 1);
  const auto call = [&](int rank, std::uint32_t spins) {
    const OneshotShape shape{rank, 3, 4, 50, spins};
    whole[rank] = all_reduce_lane(*group.transports[rank], HostMath(), shape, 3, in.data(), out[rank].data(), 0, 1);
  };
  std::thread patient(call, 1, kForever);
  while (call_of(group.transports[0]->look(word_index(3, 1, 3, 3))) != 3) std::this_thread::yield();
  call(0, 3000);
  patient.join();
  CHECK_FALSE(whole[0]);
  CHECK_FALSE(whole[1]);
  for (int rank = 0; rank < 2; ++rank) CHECK(out[rank] == std::vector<std::uint32_t>(4, HostMath().broken()));
  const BkOneshotReport first = group.transports[0]->reported();
  CHECK(first.phase == static_cast<std::uint32_t>(Waited::kGaveUp));
  CHECK(first.sequence == 3);
  CHECK(first.missing == 1u << 2);
  CHECK(group.transports[1]->reported().phase == static_cast<std::uint32_t>(Waited::kPeerGaveUp));
  // The late rank finds that its peers have left, and does not wait for ever.
  std::vector<std::uint32_t> late(4);
  const OneshotShape shape{2, 3, 4, kForever, kForever};
  CHECK_FALSE(all_reduce_lane(*group.transports[2], HostMath(), shape, 3, in.data(), late.data(), 0, 1));
  CHECK(late == std::vector<std::uint32_t>(4, HostMath().broken()));
}

/// A vote among threads.
class Votes {
 public:
  explicit Votes(int world) : enter_(world), leave_(world, [this]() noexcept { all_ = true; }) {}
  bool operator()(bool mine) {
    if (!mine) all_ = false;
    enter_.arrive_and_wait();
    const bool all = all_;
    leave_.arrive_and_wait();
    return all;
  }

 private:
  std::atomic<bool> all_{true};
  std::barrier<> enter_;
  std::barrier<std::function<void()>> leave_;
};

/// Runs one gate a rank and returns what `act` gave on each.
std::vector<std::string> on_ranks(int world, const std::function<std::string(int, const OneshotGate::AllAgree&)>& act) {
  Votes votes(world);
  std::vector<std::string> out(world);
  std::vector<std::thread> threads;
  threads.reserve(world);
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] { out[rank] = act(rank, [&](bool mine) { return votes(mine); }); });
  for (std::thread& thread : threads) thread.join();
  return out;
}

std::string state_of(OneshotGate& gate) { return gate.serves(24576, true, true, 3) ? "on" : "off: " + gate.reason(); }

TEST_CASE("all ranks arm together, and one that cannot keeps all of them on the stock path") {
  for (const int bad : {-1, 0, 2}) {
    for (const bool throwing : {false, true}) {
      const auto states = on_ranks(3, [&](int rank, const OneshotGate::AllAgree& agree) {
        OneshotGate gate("1", agree);
        gate.prepare("peer access", [] { return true; });
        gate.prepare("self-test", [&] {
          if (rank == bad && throwing) throw 1;
          return rank != bad;
        });
        gate.prepare("never asked for after a failure", [] { return true; });
        gate.arm();
        return state_of(gate);
      });
      for (int rank = 0; rank < 3; ++rank) {
        const std::string want = bad < 0       ? "on"
                                 : rank == bad ? "off: self-test failed"
                                               : "off: self-test failed, on another rank";
        CHECK(states[rank] == want);
      }
    }
  }
}

TEST_CASE("a rank with a misspelt or another knob keeps all of them off") {
  const auto states = on_ranks(2, [&](int rank, const OneshotGate::AllAgree& agree) {
    OneshotGate gate(rank == 0 ? "yes" : "1", agree);
    gate.prepare("self-test", [] { return true; });
    gate.arm();
    return state_of(gate);
  });
  CHECK(states == std::vector<std::string>{"off: 'yes' is neither 0 nor 1", "off: the knob is off, on another rank"});
}

TEST_CASE("one unhealthy rank takes all of them off at the next review, for good") {
  const auto states = on_ranks(3, [&](int rank, const OneshotGate::AllAgree& agree) {
    OneshotGate gate("1", agree);
    gate.arm();
    std::string out = gate.review(true) ? "healthy, " : "?";
    out += gate.review(rank != 1) ? "?" : "ended, ";
    gate.review(true);
    return out + state_of(gate);
  });
  CHECK(states[0] == "healthy, ended, off: a peer stayed away, on another rank");
  CHECK(states[1] == "healthy, ended, off: a peer stayed away");
}

TEST_CASE("a call is served by what is equal on every rank") {
  OneshotGate gate("1", [](bool mine) { return mine; });
  CHECK_FALSE(gate.serves(24576, true, true, 2));
  gate.arm();
  CHECK(gate.serves(24576, true, true, 2));
  CHECK(gate.serves(131072, true, true, 8));
  CHECK_FALSE(gate.serves(131074, true, true, 2));
  CHECK_FALSE(gate.serves(3, true, true, 2));
  CHECK_FALSE(gate.serves(0, true, true, 2));
  CHECK_FALSE(gate.serves(64, false, true, 2));
  CHECK_FALSE(gate.serves(64, true, false, 2));
  CHECK_FALSE(gate.serves(64, true, true, 9));
  CHECK_FALSE(gate.serves(64, true, true, 1));
}

}  // namespace
}  // namespace bk::kernels
