// Stands in for kernels/decode/ring_barrier.cuh on the CPU: an mbarrier without copies on their way
// (PTX ISA, "mbarrier").
#pragma once

#include <cstdint>

#include "kernels/tma/barrier.cuh"
#include "tests/kernels/emulated/cta.hpp"

namespace sawtooth::kernels::decode {

struct RingBarrier {
  uint16_t expected, pending;
  uint32_t phase;

  void initialise(uint32_t arrivals) {
    expected = pending = uint16_t(arrivals);
    phase = 0;
  }
  void arrive() {
    if (--pending > 0) return;
    pending = expected;
    ++phase;
  }
  void arrive_behind_copies() { arrive(); }
  void arrive_expecting(uint32_t);
  void wait(uint32_t parity) {
    emulated::cta.wait_until([&] { return phase % 2 != parity; });
  }
};

inline void wait_for_all_copies() {}
inline void fence_ring_barriers() {}

}  // namespace sawtooth::kernels::decode
