#pragma once

#include <cstdint>

#include "oneshot_ar/oneshot_ar.h"

// What every transport has in common. A unit is 4 bytes of payload; it travels as one 64-bit word together with the
// number of its call, so a word is either the old one or the new one, and no other ordering is needed. Each rank's
// region has a ring of slots for each peer. A rank sends call s + 4 into the slot of call s only after it has received
// its peers' parts of call s + 3, which they send after they have finished call s + 2: two slots would do.

#ifdef __CUDACC__
#define BK_BOTH __host__ __device__ inline
#else
#define BK_BOTH inline
#endif

namespace bk::kernels {

constexpr std::uint32_t kOneshotSlots = 4;
constexpr std::uint32_t kOneshotUnits = BK_ONESHOT_MAX_ELEMENTS / 2;

/// Numbers of calls run from 1; 0 is what empty memory holds.
BK_BOTH std::uint32_t next_call(std::uint32_t call) { return call + 1 == 0 ? 1 : call + 1; }
BK_BOTH std::uint64_t join_word(std::uint32_t payload, std::uint32_t call) {
  return static_cast<std::uint64_t>(call) << 32 | payload;
}
BK_BOTH std::uint32_t payload_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
BK_BOTH std::uint32_t call_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

/// Word of a region: 0 is the word of giving up, then for each slot and source the units.
BK_BOTH std::uint64_t word_index(std::uint32_t call, int source, int world, std::uint32_t unit) {
  const std::uint64_t row =
      static_cast<std::uint64_t>(call % kOneshotSlots) * static_cast<std::uint64_t>(world) + source;
  return 1 + row * kOneshotUnits + unit;
}

/// In order of gravity; a report keeps the gravest.
enum class Waited : std::uint32_t { kNothing = 0, kReported = 1, kPeerGaveUp = 2, kGaveUp = 3 };

struct OneshotShape {
  int rank;
  int world;
  std::uint32_t units;
  std::uint32_t report_spins;
  std::uint32_t abort_spins;
};

/// Waits for one unit of one peer. Transport: std::uint64_t look(word), bool peer_gave_up(), void report(Waited, call,
/// peer), void give_up(call), void rest().
template <class Transport>
BK_BOTH bool receive_unit(Transport& transport, const OneshotShape& shape, std::uint32_t call, int peer,
                          std::uint32_t unit, std::uint32_t& payload) {
  const std::uint64_t at = word_index(call, peer, shape.world, unit);
  for (std::uint32_t spins = 0;; ++spins) {
    const std::uint64_t word = transport.look(at);
    if (call_of(word) == call) {
      payload = payload_of(word);
      return true;
    }
    if (spins % 256 == 255 && transport.peer_gave_up()) {
      transport.report(Waited::kPeerGaveUp, call, peer);
      return false;
    }
    if (spins == shape.report_spins) transport.report(Waited::kReported, call, peer);
    if (spins >= shape.abort_spins) {
      transport.report(Waited::kGaveUp, call, peer);
      transport.give_up(call);
      return false;
    }
    transport.rest();
  }
}

/// One lane's units: first, first + stride, ... All are sent before any is waited for. Math: Sum start(), void
/// add(Sum&, payload), std::uint32_t finish(Sum), std::uint32_t broken(). Returns whether every unit came.
template <class Transport, class Math>
BK_BOTH bool all_reduce_lane(Transport& transport, const Math& math, const OneshotShape& shape, std::uint32_t call,
                             const std::uint32_t* in, std::uint32_t* out, std::uint32_t first, std::uint32_t stride) {
  const bool gone = transport.peer_gave_up();  // asked now, needed after the first wait
  for (std::uint32_t unit = first; unit < shape.units; unit += stride) {
    const std::uint64_t word = join_word(in[unit], call);
    for (int step = 1; step < shape.world; ++step) {
      const int peer = (shape.rank + step) % shape.world;
      transport.send(peer, word_index(call, shape.rank, shape.world, unit), word);
    }
  }
  bool whole = true;
  for (std::uint32_t unit = first; unit < shape.units; unit += stride) {
    const std::uint32_t own = in[unit];
    auto sum = math.start();
    for (int rank = 0; rank < shape.world && whole; ++rank) {
      std::uint32_t payload = own;
      if (rank != shape.rank) whole = receive_unit(transport, shape, call, rank, unit, payload);
      math.add(sum, payload);
    }
    whole = whole && !gone;
    out[unit] = whole ? math.finish(sum) : math.broken();
  }
  return whole;
}

}  // namespace bk::kernels
