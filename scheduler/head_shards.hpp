// Attention whose heads are shared by several GPUs, and what crosses the link for it.
//
// megatron: each GPU has its heads of the projections from the start; behind the output projection
// the sums over all heads are added up by an all-reduce (Shoeybi et al., arXiv 1909.08053,
// section 3). ulysses: each GPU has all heads of its rows; Q, K and V go to the GPUs of their heads
// and O goes back, each all to all (Jacobs et al., "DeepSpeed Ulysses", arXiv 2309.14509).
#pragma once

#include <cstdint>

#include "scheduler/integer_math.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth {

enum class Exchange : uint8_t { none, megatron, ulysses };

struct HeadShards {
  int64_t gpus = 1;
  Exchange exchange = Exchange::none;

  /// What one GPU computes; a K/V head that several GPUs need is on each of them.
  constexpr Problem of_one(Problem whole) const {
    whole.heads /= gpus;
    whole.kv_heads = max_of(1, whole.kv_heads / gpus);
    return whole;
  }

  /// Bytes that one GPU sends, and takes, for the whole problem forward. An all-reduce of n bytes
  /// sends 2 (gpus - 1) / gpus n, the least that one can (Patarasu and Yuan, 2009).
  constexpr int64_t bytes(const Problem& whole) const {
    const int64_t o_bytes = whole.batch * whole.seq_q * whole.heads * whole.o_row_bytes();
    if (exchange == Exchange::megatron) return 2 * o_bytes / gpus * (gpus - 1);
    if (exchange == Exchange::none) return 0;
    const int64_t kv_heads = max_of(whole.kv_heads, gpus);  // with those that go to several
    const int64_t kv_bytes = whole.batch * kv_heads * whole.kv_head_bytes();
    const int64_t q_bytes = whole.batch * whole.seq_q * whole.heads * whole.row_bytes();
    return (q_bytes + o_bytes + kv_bytes) / gpus / gpus * (gpus - 1);
  }

  /// One message to one GPU has so many of these bytes.
  constexpr int64_t message_bytes(const Problem& whole) const {
    const int64_t o_bytes = whole.batch * whole.seq_q * whole.heads * whole.o_row_bytes();
    return exchange == Exchange::ulysses ? o_bytes / gpus / gpus : o_bytes / gpus;
  }
};

}  // namespace sawtooth
