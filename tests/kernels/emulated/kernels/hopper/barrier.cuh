// Stands in for kernels/hopper/barrier.cuh on the CPU: the barriers that other families use.
#pragma once

#include "tests/kernels/emulated/cta.hpp"

namespace sawtooth::kernels::hopper {

inline void named_barrier_sync(int id, int threads) {
  emulated::cta.wait_for_named(id, threads);
}

}  // namespace sawtooth::kernels::hopper
