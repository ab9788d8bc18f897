// What a step of the ring's backward pass does beside its main kernel: the two small kernels around
// it, the sums of gradients that come in parts (kernels/ring/ring_attention.hpp), and what
// crosses the link. Each reads and writes its tensors once, one after another, and all of them are
// larger than L2: what it reads comes from DRAM, and what it writes goes there.
#pragma once

#include <array>
#include <cstdint>

#include "sim/counters.hpp"
#include "sim/ring/simulate_ring.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// Counters by tensor. The sums of dQ are those of `running_o`, those of dK and dV count as these.
/// Behind the call of the last step also what the rank does with what comes back then.
std::array<Counters, tensor_count> gradient_streams(const RingRequest& ring, int64_t rank,
                                                    int64_t step);

/// Bytes of a part of dK, as many as of dV, that comes back to the rank behind `step`; 0: none.
int64_t returned_bytes(const RingRequest& ring, int64_t rank, int64_t step);

/// Bytes that SMs read and write to add that part to dK and dV.
int64_t added_bytes(const RingRequest& ring, int64_t rank, int64_t step);

/// All bytes that SMs move in these streams.
int64_t streamed_bytes(const std::array<Counters, tensor_count>& streams);

}  // namespace sawtooth::sim
