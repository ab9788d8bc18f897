// The next item under `dynamic`: a counter that every launch finds and leaves as zero.
#pragma once

#include <cstdint>

namespace sawtooth::kernels {

/// One thread of each worker. A ticket from `items` on ends the worker: each of `workers` draws one
/// such, and the last of them leaves zero for the next launch.
__device__ inline int64_t draw_ticket(unsigned long long* next, int64_t items, int64_t workers) {
  const auto ticket = int64_t(atomicAdd(next, 1ull));
  if (ticket + 1 == items + workers) *next = 0;
  return ticket;
}

/// The same where the first `workers` items are those of the workers' numbers, and only later ones
/// take tickets: the next item of a worker.
__device__ inline int64_t draw_later_ticket(unsigned long long* next, int64_t items,
                                            int64_t workers) {
  return workers + draw_ticket(next, items - workers, workers);
}

}  // namespace sawtooth::kernels
