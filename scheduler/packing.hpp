// pack-gqa: the query heads of a group share the rows of one Q tile, so that its item reads K and V
// once for all of them (FlashAttention-3, hopper/pack_gqa.h). Row r of a packed head is query
// position r / group of head r mod group of the group; a tile may begin inside a position.
#pragma once

#include "scheduler/host_device.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth {

/// `problem` with its groups packed: each K/V head has one query head, of the rows of the whole
/// group. Its Q tiles are those of packed(tiling, problem).
SAWTOOTH_HD constexpr Problem packed(Problem problem) {
  problem.seq_q *= problem.heads_per_kv_head();
  problem.heads = problem.kv_heads;
  return problem;
}
/// `problem` is not packed yet.
SAWTOOTH_HD constexpr Tiling packed(Tiling tiling, const Problem& problem) {
  tiling.rows_a_position = problem.heads_per_kv_head();
  return tiling;
}

}  // namespace sawtooth
