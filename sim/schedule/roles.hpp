// What the items of a kernel do with which tensor: an item loads its own tiles, scans tiles of the
// other side, adds to some of these, and stores its results.
//
// forward: a Q tile scans K and V, and stores O. backward: K and V tiles scan Q and dO with two
// numbers a row, add to the fp32 sums of dQ, and store dK and dV (Dao, "FlashAttention-2", arXiv
// 2307.08691, algorithm 2). With dq = separate dQ has a kernel of its own, shaped like forward.
// With kv-split an item stores parts in place of results.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "scheduler/cascade.hpp"
#include "scheduler/schedule.hpp"
#include "sim/request.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

struct Roles {
  std::span<const Tensor> loads{};   // before an item's first step
  std::span<const Tensor> scans{};   // read in every step, in this order
  std::span<const Tensor> adds{};    // and reduced behind that
  std::span<const Tensor> stores{};  // at an item's end
  bool last_touch = true;            // nothing touches a head after its items have ended
  std::span<const Tensor>
      merges{};  // read at an item's end, before it stores: results of earlier calls
  std::span<const Tensor> parts{};  // stored with kv-split
};

namespace roles {

inline constexpr std::array q{Tensor::q};
inline constexpr std::array k_v{Tensor::k, Tensor::v};
inline constexpr std::array o_lse{Tensor::o, Tensor::lse};
inline constexpr std::array running_and_o{Tensor::running_lse, Tensor::running_o, Tensor::o};
inline constexpr std::array of_queries{Tensor::q, Tensor::lse, Tensor::d_o, Tensor::row_sum};
inline constexpr std::array dq_sum{Tensor::dq_sum};
inline constexpr std::array dk_dv{Tensor::dk, Tensor::dv};
inline constexpr std::array parts_of_o{Tensor::partial_o, Tensor::partial_lse};
inline constexpr std::array parts_of_dk_dv{Tensor::partial_dk, Tensor::partial_dv};
inline constexpr std::array dq{Tensor::dq};

}  // namespace roles

/// Whether O lies in fp32 between the K/V tiles of kv_outer: where it is no fp32 itself, and K and
/// V have several (FlashAttention-1 1.0.9, csrc/flash_attn/src/fmha_fprop_kernel_1xN.h, o_tmp).
inline bool keeps_running_o(const Request& request) {
  const Problem& problem = request.problem;
  return request.schedule.loop == Loop::kv_outer && kv_tiles(problem, request.tiling) > 1 &&
         problem.o_row_bytes() < problem.v_dim() * float_bytes;
}

/// The kernel's items are those of the request's schedule.
inline Roles roles_of(const Request& request) {
  const auto scans = std::span(roles::k_v).first(request.problem.kv_latent ? 1 : 2);
  if (request.problem.pass == Pass::backward) {
    const bool adds = request.schedule.dq != Dq::separate;
    return {.loads = roles::k_v,
            .scans = roles::of_queries,
            .adds = std::span(roles::dq_sum).first(adds ? 1 : 0),
            .stores = roles::dk_dv,
            .last_touch = false,
            .parts = roles::parts_of_dk_dv};
  }
  if (request.running.on) {
    const auto running = std::span(roles::running_and_o);
    return {roles::q, scans,
            {},       running.first(request.running.finishes ? 3 : 2),
            false,    running.first(request.running.begins ? 0 : 2)};
  }
  return {.loads = roles::q,
          .scans = scans,
          .stores = std::span(roles::o_lse).first(request.log_sum_exp ? 2 : 1),
          .parts = roles::parts_of_o};
}

/// dq = separate launches this kernel behind that of roles_of().
inline Roles dq_kernel_roles() {
  return {roles::of_queries, roles::k_v, {}, roles::dq, false};
}

/// And its schedule: Q tiles as items, of as many heads a section as share its K/V heads.
inline Request dq_kernel_request(Request request) {
  request.problem.pass = Pass::forward;
  request.schedule.order.section *= heads_of_item(request.problem, request.schedule);
  request.schedule.kv_split = 1;
  return request;
}

// The two small kernels around the backward pass. Before it one sums dO * O over each row and
// clears the fp32 sums of dQ (FlashAttention-2, csrc/flash_attn/src/flash_bwd_preprocess_kernel.h);
// behind it another one turns these into dQ. Q tiles are dealt to workers in turn, head after head.

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

// Pieces: partial results of items that are cut, and of a cascade's items, which the worker that
// comes last merges. No second launch reads them, as it does those of kv-split = N.

/// A piece is `tiles` tiles of `tile_rows` rows of Q each: in a cascade one of each sequence of a
/// stack.
struct PieceShape {
  int64_t count = 0;  // numbers of pieces lie below it
  int64_t tiles = 1;
  int64_t tile_rows = 0;
  int64_t floats_beside_o = 0;  // of a row
};

inline PieceShape piece_shape(const Request& request) {
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  const Schedule& schedule = request.schedule;
  const ItemShares& shares = request.shares;
  if (!shares.cuts() && !request.cascade) {
    const bool cuts = cuts_last_wave(schedule);
    if (request.key_parts.exist)
      return {.count = cuts ? request.key_parts.pieces : 0,
              .tile_rows = tiling.q_rows,
              .floats_beside_o = piece_floats_beside_o};
    return {.count = cuts ? last_wave(problem, tiling, schedule).most_pieces() : 0,
            .tile_rows = tiling.q_rows,
            .floats_beside_o = piece_floats_beside_o};
  }
  PieceShape shape{.count = shares.cuts() ? shares.most_pieces() : 0,
                   .tile_rows = min_of(tiling.q_rows, problem.seq_q),
                   .floats_beside_o = share_piece_floats_beside_o};
  if (!request.cascade) return shape;
  const Cascade cascade(problem, tiling, request.sequences.prefix);
  shape.count += cascade_item_count(problem, tiling, schedule, cascade);
  shape.tiles = cascade.stack();
  return shape;
}

}  // namespace sawtooth::sim
