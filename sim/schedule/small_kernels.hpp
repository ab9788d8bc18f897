// The two small kernels around the backward pass. Before it one sums dO * O over each row and
// clears the fp32 sums of dQ (FlashAttention-2, csrc/flash_attn/src/flash_bwd_preprocess_kernel.h);
// behind it another one turns these into dQ. Q tiles are dealt to workers in turn, head after head.
#pragma once

#include <cstdint>

#include "scheduler/schedule.hpp"
#include "sim/request.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// Calls visit(worker, flat query head, Q tile) for all Q tiles of `request`.
template <class Function>
void deal_q_tiles(const Request& request, int64_t workers, Function visit) {
  const int64_t tiles = q_tiles(request.problem, request.tiling);
  const int64_t all = request.problem.batch * request.problem.heads * tiles;
  for (int64_t i = 0; i < all; ++i) visit(i % workers, i / tiles, i % tiles);
}

/// With touch(worker, Tensor, flat head, tile, Access), as the combine kernel of kv-split has it.
template <class Touch>
void row_sum_kernel(const Request& request, int64_t workers, Touch touch) {
  const bool clears = request.schedule.dq != Dq::separate;
  deal_q_tiles(request, workers, [&](int64_t worker, int64_t head, int64_t tile) {
    touch(worker, Tensor::o, head, tile, Access::read);
    touch(worker, Tensor::d_o, head, tile, Access::read);
    touch(worker, Tensor::row_sum, head, tile, Access::write);
    if (clears) touch(worker, Tensor::dq_sum, head, tile, Access::write);
  });
}

/// Nothing with dq = separate, whose kernel writes dQ itself.
template <class Touch>
void convert_kernel(const Request& request, int64_t workers, Touch touch) {
  if (request.schedule.dq == Dq::separate) return;
  deal_q_tiles(request, workers, [&](int64_t worker, int64_t head, int64_t tile) {
    touch(worker, Tensor::dq_sum, head, tile, Access::read);
    touch(worker, Tensor::dq, head, tile, Access::write);
  });
}

}  // namespace sawtooth::sim
