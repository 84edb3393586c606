#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BK_ONESHOT_MAX_WORLD = 8, BK_ONESHOT_MAX_ELEMENTS = 131072 };

/// What a rank saw when a peer stayed away; zeros while nothing was wrong.
struct BkOneshotReport {
  uint32_t phase;     ///< 0: nothing to report, 1: waited longer than report_spins, 2: a peer gave up, 3: gave up
  uint32_t sequence;  ///< The call, counted from 1.
  uint32_t missing;   ///< Bit r: rank r's part had not come.
};

/// out = bf16(sum over the ranks, in ascending order, in fp32): the same bits on every rank. Every rank has to make the
/// same calls in the same order. A rank that gives up tells its peers, and from then on every call on any of them
/// writes NaN at once; the report says why. That state ends with new, zeroed regions and states.
struct BkOneshotAr {
  const void* in;                       ///< [elements] bf16, 4-byte aligned
  void* out;                            ///< [elements] bf16, 4-byte aligned; may be in.
  void* regions[BK_ONESHOT_MAX_WORLD];  ///< Each rank's region as this device reaches it; zeroed before the first call.
  void* state;                     ///< bk_oneshot_state_bytes() bytes of this device, zeroed before the first call.
  struct BkOneshotReport* report;  ///< Host memory mapped into the device, or device memory.
  int64_t elements;                ///< Even, up to 131072.
  int rank;
  int world;              ///< 2..8
  uint32_t report_spins;  ///< Looks at a missing part before it is reported.
  uint32_t abort_spins;   ///< Looks before the rank gives up; not fewer than report_spins.
};

size_t bk_oneshot_region_bytes(int world);
size_t bk_oneshot_state_bytes(void);

/// One launch, no allocation, no synchronisation of the host; the call's number lives in `state`, so a graph can replay
/// it. Returns a BkKernelStatus.
int bk_oneshot_ar(const struct BkOneshotAr* job, void* stream);

#ifdef __cplusplus
}
#endif
